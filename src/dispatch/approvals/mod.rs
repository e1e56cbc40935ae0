//! `config approvals`: adds approval rules to the settings: a set to begin with, or an agent's own rules, translated.

use std::borrow::Cow;
use std::fs;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::agents::text;
use super::code::Code;
use super::command::{Danger, Example, LocalCommand};
use super::context::CommandContext;
use super::merge::{Format, unified};
use super::response::Failure;
use super::settings::invalid_settings;
use crate::agents::{AgentProgram, CommandRules, RuleFile, RulesImport, TranslatedRule};
use crate::config::{ApprovalRule, FILE, Faults, LoadedSettings, STARTER_RULES, Source, read_own, write_own};

/// Where the rules to begin with come from.
const STARTER: &str = "the starter set";

pub(super) struct ConfigApprovals;

/// Which agent's rules, and whether to write them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalsInput {
    /// The agent whose rules are read.
    from: Option<RulesOwner>,
    /// Take a set of rules to begin with: they ask before something would be lost.
    #[serde(default)]
    starter: bool,
    /// Add the rules to config.toml.
    #[serde(default)]
    write: bool,
}

/// An agent whose rules about commands can be read.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
struct RulesOwner(AgentProgram);

impl RulesOwner {
    /// Returns their names.
    fn words() -> Vec<&'static str> {
        let owners = AgentProgram::ALL.iter().filter(|agent| agent.profile().rules.is_some());
        owners.map(|agent| agent.as_str()).collect()
    }
}

impl JsonSchema for RulesOwner {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "RulesOwner".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::words() })
    }
}

/// The rules.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ApprovalsOutput {
    /// `written`, `unchanged`, or `shown` without `write`.
    effect: &'static str,
    /// The files that were read.
    read: Vec<String>,
    /// The rules, each with the one it comes from.
    rules: Vec<TranslatedRule>,
    /// What has no equivalent here, and why.
    untranslated: Vec<String>,
    /// The change to config.toml, as `diff -u` shows it.
    diff: String,
}

impl LocalCommand for ConfigApprovals {
    const PATH: &'static str = "config.approvals";
    const ABOUT: &'static str =
        "Add approval rules: a set to begin with, or an agent's own; shows the change, --write applies it";
    const DANGER: Danger = Danger::Mutating;
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Preview Claude Code's rules as approval rules", input: r#"{"from":"claude"}"# },
        Example { about: "Preview rules that ask before something is lost", input: r#"{"starter":true}"# },
        Example { about: "Add them to config.toml", input: r#"{"from":"claude","write":true}"# },
    ];

    type Input = ApprovalsInput;
    type Output = ApprovalsOutput;

    async fn run(cx: &mut CommandContext, input: ApprovalsInput) -> Result<ApprovalsOutput, Failure> {
        propose(cx, &input, input.write)
    }

    async fn dry_run(cx: &mut CommandContext, input: ApprovalsInput) -> Result<Value, Failure> {
        let mut shown = json!(propose(cx, &input, false)?);
        let changes = input.write && shown["effect"] != "unchanged";
        shown["effect"] = json!(if changes { "would_write" } else { "would_change_nothing" });
        Ok(shown)
    }

    fn text(output: &ApprovalsOutput) -> String {
        describe(&json!(output))
    }

    fn form(name: &str, data: &Value) -> Option<String> {
        (name == "plain").then(|| describe(data))
    }

    fn notes(output: &ApprovalsOutput) -> Vec<String> {
        let mut notes: Vec<String> =
            output.untranslated.iter().map(|one| format!("no equivalent here: {one}")).collect();
        if output.effect == "shown" && !output.diff.is_empty() {
            notes.push("nothing was written; --write adds these rules".to_owned());
        }
        notes
    }
}

fn propose(cx: &CommandContext, input: &ApprovalsInput, writes: bool) -> Result<ApprovalsOutput, Failure> {
    let import = input.from.and_then(|owner| owner.0.profile().rules);
    if import.is_none() && !input.starter {
        let words: Vec<String> = RulesOwner::words().iter().map(|word| format!("--from {word}")).collect();
        let (last, others) =
            words.split_last().map_or(("", String::new()), |(last, rest)| (last.as_str(), rest.join(", ")));
        let fix = format!("pass --starter, {others} or {last}");
        return Err(Failure::new(Code::ArgError, "No rules are named.").with("opt", "from").fix(fix));
    }
    let places = cx.host.places()?;
    let (mut rules, mut read) = (CommandRules::default(), Vec::new());
    if input.starter {
        begin_with_starter(&mut rules)?;
        read.push(STARTER.to_owned());
    }
    for (path, import) in
        import.iter().flat_map(|import| files(cx, import).into_iter().map(move |path| (path, import)))
    {
        let Some(text) = text(&path) else { continue };
        let name = path.display().to_string();
        let settings = || Format::of(&path).read(&text).map_err(|error| error.to_string());
        let file = RuleFile { name: &name, text: &text, settings: &settings };
        if let Err(fault) = (import.translate)(file, &mut rules) {
            rules.skip(&name, &format!("it cannot be read: {fault}"));
        }
        read.push(name);
    }
    let path = places.config_dir.join(FILE);
    let name = path.display().to_string();
    let faulty = |Faults(faults): Faults| invalid_settings(&faults);
    let own = read_own(&path).map_err(|fault| invalid_settings(&[fault]))?;
    LoadedSettings::of(own.as_ref(), &path).map_err(faulty)?;
    let before = own.map(|own| own.text).unwrap_or_default();
    let all: Vec<&ApprovalRule> = rules.translated.iter().map(|one| &one.rule).collect();
    let merged = if all.is_empty() {
        before.clone()
    } else {
        let merged = Format::Toml.add(&before, &json!({ "approvals": all }));
        merged.map_err(|error| Failure::new(Code::Precondition, format!("{name}: {error}")))?.text
    };
    LoadedSettings::of(Some(&Source { name: name.clone(), text: merged.clone() }), &path).map_err(faulty)?;
    let diff = unified(&name, &before, &merged);
    if writes && !diff.is_empty() {
        write_own(&path, &merged).map_err(|error| Failure::internal(&error))?;
    }
    let effect = match (diff.is_empty(), writes) {
        (true, _) => "unchanged",
        (false, true) => "written",
        (false, false) => "shown",
    };
    Ok(ApprovalsOutput { effect, read, rules: rules.translated, untranslated: rules.untranslated, diff })
}

/// Adds the rules to begin with.
fn begin_with_starter(rules: &mut CommandRules) -> Result<(), Failure> {
    #[derive(Deserialize)]
    struct StarterFile {
        approvals: Vec<ApprovalRule>,
    }
    let StarterFile { approvals } =
        toml::from_str(STARTER_RULES).map_err(|error| Failure::internal(&error))?;
    let rule = |rule| TranslatedRule { rule, from: STARTER.to_owned() };
    rules.translated.extend(approvals.into_iter().map(rule));
    Ok(())
}

/// Finds the files with an agent's rules, those for all workspaces first.
fn files(cx: &CommandContext, import: &RulesImport) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (place, ending) in import.places {
        let Some(path) = place.path(&*cx.host) else { continue };
        let Some(ending) = ending else {
            found.push(path);
            continue;
        };
        let entries =
            fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        let mut inside: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == *ending)).collect();
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn translate(
        agent: AgentProgram,
        name: &str,
        text: &str,
        rules: &mut CommandRules,
    ) -> Result<(), String> {
        let settings = || Format::of(Path::new(name)).read(text).map_err(|error| error.to_string());
        let import = agent.profile().rules.expect("rules");
        (import.translate)(RuleFile { name, text, settings: &settings }, rules)
    }

    #[test]
    fn rules_about_commands_are_translated_and_nothing_is_guessed() {
        let text = r#"{ // mine
            "permissions": {
                "defaultMode": "default",
                "allow": ["Bash(npm run:*)"],
                "ask": ["Bash(git push:*)", "Bash(rm *)", "Read(./.env)", "Bash(git * main)", "Bash(ls; rm:*)"],
                "deny": ["Bash", "Monitor", "Bash(curl:*)", "Bash(git push:*)", "Bash(npm publish)", "Bash(npm*)"],
            } }"#;
        let mut rules = CommandRules::default();
        translate(AgentProgram::Claude, "f", text, &mut rules).expect("readable");
        let prefixes: Vec<_> = rules.translated.iter().filter_map(|one| one.rule.prefix.as_deref()).collect();
        assert_eq!(prefixes, ["curl", "git push", "npm publish", "rm"]);
        let left = rules.untranslated.join("\n");
        for rule in ["Bash(npm*)", "Bash(git * main)", "Bash(ls; rm:*)", "defaultMode default"] {
            assert!(left.contains(rule), "{rule}: {left}");
        }
        let mut rules = CommandRules::default();
        translate(AgentProgram::Claude, "f", r#"{"permissions": {"ask": ["Bash"]}}"#, &mut rules)
            .expect("readable");
        assert_eq!(rules.translated[0].rule, crate::config::ApprovalRule::default());
        assert!(translate(AgentProgram::Claude, "f", "{", &mut rules).is_err());
    }

    #[test]
    fn prefix_rules_that_prompt_or_forbid_are_translated() {
        let text = r#"
# my rules
prefix_rule(
    pattern = ["git", ["push", "fetch"]],
    decision = "prompt",
    justification = "it (really) leaves, 'quoted'",
    match = [["git", "push", "origin"], "git fetch"],
)
prefix_rule(pattern=["rm", "-rf", "my dir"], decision="forbidden")
prefix_rule(pattern=["ls"], decision="allow")
prefix_rule(pattern=["cat"])
other(name="x")
"#;
        let mut rules = CommandRules::default();
        translate(AgentProgram::Codex, "r.rules", text, &mut rules).expect("readable");
        let prefixes: Vec<_> = rules.translated.iter().filter_map(|one| one.rule.prefix.as_deref()).collect();
        assert_eq!(prefixes, ["git push", "git fetch", "rm -rf 'my dir'"]);
        assert_eq!(rules.untranslated, ["r.rules: other(…): only prefix_rule is read"]);
        for text in
            ["for x in y: z()", "prefix_rule(pattern=[x])", "prefix_rule(\"a\")", "prefix_rule(pattern=['a'"]
        {
            assert!(
                translate(AgentProgram::Codex, "r.rules", text, &mut CommandRules::default()).is_err(),
                "{text}"
            );
        }
        let mut rules = CommandRules::default();
        translate(AgentProgram::Codex, "config.toml", "approval_policy = \"untrusted\"\n", &mut rules)
            .expect("readable");
        assert!(rules.untranslated[0].starts_with("config.toml: approval_policy untrusted: "));
    }

    #[test]
    fn policies_that_ask_or_deny_are_translated_and_others_are_listed() {
        let text = r#"
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git push", "rm -rf"]
decision = "ask_user"
priority = 100
[[rule]]
commandPrefix = "npm publish"
decision = "deny"
priority = 1
[[rule]]
toolName = "run_shell_command"
commandRegex = "git (commit|push)"
decision = "deny"
priority = 1
[[rule]]
toolName = "run_shell_command"
decision = "deny"
priority = 100
[[rule]]
toolName = "run_shell_command"
commandPrefix = "ls"
decision = "allow"
priority = 1
[[rule]]
toolName = "write_file"
decision = "ask_user"
priority = 1
"#;
        let mut rules = CommandRules::default();
        translate(AgentProgram::Gemini, "p.toml", text, &mut rules).expect("readable");
        translate(
            AgentProgram::Gemini,
            "s.json",
            r#"{"tools": {"exclude": ["run_shell_command(sudo)", "glob"]}}"#,
            &mut rules,
        )
        .expect("readable");
        let prefixes: Vec<_> = rules.translated.iter().filter_map(|one| one.rule.prefix.as_deref()).collect();
        assert_eq!(prefixes, ["git push", "rm -rf", "npm publish", "sudo"]);
        assert_eq!(rules.untranslated, ["p.toml: deny git (commit|push): `commandRegex`"]);
    }
}
