//! `config approvals`: translates an agent's own rules about commands into approval rules.

mod claude;
mod codex;
mod gemini;

use std::fs;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::agents::text;
use super::code::Code;
use super::command::{Danger, Example, Local};
use super::context::Context;
use super::merge::{Format, unified};
use super::response::Failure;
use super::settings::invalid;
use crate::agents::ConfigFile;
use crate::config::{ApprovalRule, FILE, Faults, Loaded, Source, read_own, write_own};

pub(super) struct ConfigApprovals;

/// Which agent's rules, and whether to write them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The agent whose rules are read.
    from: Option<From>,
    /// Add the rules to config.toml.
    #[serde(default)]
    write: bool,
}

/// An agent with rules about commands that can be read.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum From {
    Claude,
    Codex,
    Gemini,
}

/// The rules.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// `written`, `unchanged`, or `shown` without `write`.
    effect: &'static str,
    /// The files that were read.
    read: Vec<String>,
    /// The rules, each with the one it comes from.
    rules: Vec<Translated>,
    /// What has no equivalent here, and why.
    untranslated: Vec<String>,
    /// The change to config.toml, as `diff -u` shows it.
    diff: String,
}

/// A rule, and the one it comes from.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Translated {
    /// The rule as written under `[[approvals]]`.
    rule: ApprovalRule,
    /// The agent's own rule.
    from: String,
}

/// The translation of an agent's files.
#[derive(Debug, Default)]
struct Rules {
    translated: Vec<Translated>,
    untranslated: Vec<String>,
}

impl Rules {
    /// Adds a rule that requires approval for commands that begin with `prefix`, or for every command if it is
    /// `None`.
    fn ask(&mut self, prefix: Option<&str>, from: &str) {
        let rule = ApprovalRule { prefix: prefix.map(str::to_owned), ..ApprovalRule::default() };
        match rule.fault() {
            Some(fault) => self.skip(from, &fault),
            None if self.translated.iter().any(|known| known.rule == rule) => {}
            None => self.translated.push(Translated { rule, from: from.to_owned() }),
        }
    }

    fn skip(&mut self, from: &str, why: &str) {
        self.untranslated.push(format!("{from}: {why}"));
    }
}

impl From {
    /// Returns where its rules are: locations and, for a folder, the extension of the files in it. Without an
    /// extension, the location is the file itself.
    fn places(self) -> Vec<(ConfigFile, Option<&'static str>)> {
        match self {
            Self::Claude => claude::places(),
            Self::Codex => codex::places(),
            Self::Gemini => gemini::places(),
        }
    }

    fn translate(self, name: &str, text: &str, rules: &mut Rules) -> Result<(), String> {
        match self {
            Self::Claude => claude::translate(name, text, rules),
            Self::Codex => codex::translate(name, text, rules),
            Self::Gemini => gemini::translate(name, text, rules),
        }
    }
}

impl Local for ConfigApprovals {
    const PATH: &'static str = "config.approvals";
    const ABOUT: &'static str =
        "Convert an agent's own command rules into approval rules; shows the change, --write applies it";
    const DANGER: Danger = Danger::Mutating;
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Preview Claude Code's rules as approval rules", input: r#"{"from":"claude"}"# },
        Example { about: "Add them to config.toml", input: r#"{"from":"claude","write":true}"# },
    ];

    type Input = Input;
    type Output = Output;

    async fn run(cx: &mut Context, input: Input) -> Result<Output, Failure> {
        propose(cx, &input, input.write)
    }

    async fn dry_run(cx: &mut Context, input: Input) -> Result<Value, Failure> {
        let mut shown = json!(propose(cx, &input, false)?);
        let changes = input.write && shown["effect"] != "unchanged";
        shown["effect"] = json!(if changes { "would_write" } else { "would_change_nothing" });
        Ok(shown)
    }

    fn text(output: &Output) -> String {
        describe(&json!(output))
    }

    fn form(name: &str, data: &Value) -> Option<String> {
        (name == "plain").then(|| describe(data))
    }

    fn notes(output: &Output) -> Vec<String> {
        let mut notes: Vec<String> =
            output.untranslated.iter().map(|one| format!("no equivalent here: {one}")).collect();
        if output.effect == "shown" && !output.diff.is_empty() {
            notes.push("nothing was written; --write adds these rules".to_owned());
        }
        notes
    }
}

fn propose(cx: &Context, input: &Input, writes: bool) -> Result<Output, Failure> {
    let Some(agent) = input.from else {
        let fix = "pass --from claude, --from codex or --from gemini";
        return Err(Failure::new(Code::ArgError, "No agent is named.").with("opt", "from").fix(fix));
    };
    let places = cx.host.places()?;
    let (mut rules, mut read) = (Rules::default(), Vec::new());
    for path in files(cx, agent) {
        let Some(text) = text(&path) else { continue };
        let name = path.display().to_string();
        if let Err(fault) = agent.translate(&name, &text, &mut rules) {
            rules.skip(&name, &format!("it cannot be read: {fault}"));
        }
        read.push(name);
    }
    let path = places.config_dir.join(FILE);
    let name = path.display().to_string();
    let faulty = |Faults(faults): Faults| invalid(&faults);
    let own = read_own(&path).map_err(|fault| invalid(&[fault]))?;
    Loaded::of(own.as_ref(), &path).map_err(faulty)?;
    let before = own.map(|own| own.text).unwrap_or_default();
    let all: Vec<&ApprovalRule> = rules.translated.iter().map(|one| &one.rule).collect();
    let merged = if all.is_empty() {
        before.clone()
    } else {
        let merged = Format::Toml.add(&before, &json!({ "approvals": all }));
        merged.map_err(|error| Failure::new(Code::Precondition, format!("{name}: {error}")))?.text
    };
    Loaded::of(Some(&Source { name: name.clone(), text: merged.clone() }), &path).map_err(faulty)?;
    let diff = unified(&name, &before, &merged);
    if writes && !diff.is_empty() {
        write_own(&path, &merged).map_err(|error| Failure::internal(&error))?;
    }
    let effect = match (diff.is_empty(), writes) {
        (true, _) => "unchanged",
        (false, true) => "written",
        (false, false) => "shown",
    };
    Ok(Output { effect, read, rules: rules.translated, untranslated: rules.untranslated, diff })
}

/// Finds the files with an agent's rules, those for all workspaces first.
fn files(cx: &Context, agent: From) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (place, ending) in agent.places() {
        let Some(path) = place.path(&*cx.host) else { continue };
        let Some(ending) = ending else {
            found.push(path);
            continue;
        };
        let entries =
            fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        let mut inside: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == ending)).collect();
        inside.sort();
        found.extend(inside);
    }
    found
}

fn describe(data: &Value) -> String {
    let read = data["read"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let read: Vec<&str> = read.collect();
    match data["diff"].as_str().unwrap_or_default() {
        "" if read.is_empty() => "No rules of that agent were found.".to_owned(),
        "" => format!("No rule to add from {}.", read.join(", ")),
        diff => diff.trim_end().to_owned(),
    }
}
