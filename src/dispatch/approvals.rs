//! `config approvals`: adds a starter set of approval rules to the settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::code::Code;
use super::command::{Danger, Example, LocalCommand};
use super::context::CommandContext;
use super::merge::{Format, unified_diff};
use super::response::Failure;
use super::settings::invalid_settings;
use crate::config::{ApprovalRule, FILE, Faults, LoadedSettings, STARTER_RULES, Source, read_own, write_own};

pub(super) struct ConfigApprovals;

/// The set of rules, and whether to write it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalsInput {
    /// Use the starter set, whose rules ask before a command loses data.
    #[serde(default)]
    starter: bool,
    /// Add the rules to config.toml.
    #[serde(default)]
    write: bool,
}

/// The rules.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ApprovalsOutput {
    /// `written`, `unchanged`, or `shown` without `write`.
    effect: &'static str,
    /// The rules.
    rules: Vec<ApprovalRule>,
    /// The change to config.toml, as `diff -u` shows it.
    diff: String,
}

impl LocalCommand for ConfigApprovals {
    const PATH: &'static str = "config.approvals";
    const ABOUT: &'static str =
        "Show a starter set of approval rules as a change to config.toml; --write applies it";
    const DANGER: Danger = Danger::Mutating;
    const EXITS: &'static [u8] = &[4];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Preview rules that ask before something is lost", input: r#"{"starter":true}"# },
        Example { about: "Add them to config.toml", input: r#"{"starter":true,"write":true}"# },
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
        describe(&output.diff)
    }

    fn form(name: &str, data: &Value) -> Option<String> {
        (name == "plain").then(|| describe(data["diff"].as_str().unwrap_or_default()))
    }

    fn notes(output: &ApprovalsOutput) -> Vec<String> {
        let is_only_shown = output.effect == "shown";
        is_only_shown
            .then(|| "nothing was written; --write adds these rules".to_owned())
            .into_iter()
            .collect()
    }
}

fn propose(cx: &CommandContext, input: &ApprovalsInput, writes: bool) -> Result<ApprovalsOutput, Failure> {
    #[derive(Deserialize)]
    struct StarterFile {
        approvals: Vec<ApprovalRule>,
    }
    let places = cx.host.places()?;
    let path = places.config_dir.join(FILE);
    let name = path.display().to_string();
    if !input.starter {
        let fix = format!(
            "pass --starter, or write a rule of your own to {name}: [[approvals]] and prefix = \"git push\""
        );
        return Err(Failure::new(Code::ArgError, "No rules are named.").with("opt", "starter").fix(fix));
    }
    let StarterFile { approvals: rules } =
        toml::from_str(STARTER_RULES).map_err(|error| Failure::internal(&error))?;
    let faulty = |Faults(faults): Faults| invalid_settings(&faults);
    let own = read_own(&path).map_err(|fault| invalid_settings(&[fault]))?;
    LoadedSettings::of(own.as_ref(), &path).map_err(faulty)?;
    let before = own.map(|own| own.text).unwrap_or_default();
    let merged = Format::Toml.add(&before, &json!({ "approvals": rules }));
    let merged = merged.map_err(|error| Failure::new(Code::Precondition, format!("{name}: {error}")))?.text;
    LoadedSettings::of(Some(&Source { name: name.clone(), text: merged.clone() }), &path).map_err(faulty)?;
    let diff = unified_diff(&name, &before, &merged);
    if writes && !diff.is_empty() {
        write_own(&path, &merged).map_err(|error| Failure::internal(&error))?;
    }
    let effect = match (diff.is_empty(), writes) {
        (true, _) => "unchanged",
        (false, true) => "written",
        (false, false) => "shown",
    };
    Ok(ApprovalsOutput { effect, rules, diff })
}

fn describe(diff: &str) -> String {
    if diff.is_empty() { "Each of these rules is there.".to_owned() } else { diff.trim_end().to_owned() }
}
