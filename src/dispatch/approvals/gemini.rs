//! Gemini CLI's policies, and the exclusions in its settings. Pure.

use serde_json::Value;

use super::Rules;
use crate::agents::{ConfigFile, ConfigFolder};
use crate::dispatch::merge::Format;

/// Gemini CLI's shell tool.
const SHELL: &str = "run_shell_command";
/// Conditions that narrow a rule in ways our rules cannot express.
const NARROWING: [&str; 6] =
    ["argsPattern", "commandRegex", "modes", "interactive", "subagent", "toolAnnotations"];

pub(super) fn places() -> Vec<(ConfigFile, Option<&'static str>)> {
    let home = ConfigFolder::Own("GEMINI_CLI_HOME", "");
    vec![
        (ConfigFile::new(home, &[".gemini/settings.json"]), None),
        (ConfigFile::new(ConfigFolder::Workspace, &[".gemini/settings.json"]), None),
        (ConfigFile::new(home, &[".gemini/policies"]), Some("toml")),
    ]
}

/// Translates rules that ask about commands or deny them. What Gemini CLI would deny needs approval here.
pub(super) fn translate(name: &str, text: &str, rules: &mut Rules) -> Result<(), String> {
    if name.ends_with(".toml") {
        let policies = Format::Toml.read(text).map_err(|error| error.to_string())?;
        policies["rule"].as_array().into_iter().flatten().for_each(|rule| policy(name, rule, rules));
        return Ok(());
    }
    let settings = Format::Jsonc.read(text).map_err(|error| error.to_string())?;
    for tool in settings["tools"]["exclude"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let command = tool.strip_prefix(SHELL).and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
        if let Some(command) = command {
            rules.ask(Some(command), &format!("{name}: exclude {tool}"));
        }
    }
    Ok(())
}

fn policy(name: &str, rule: &Value, rules: &mut Rules) {
    let decision = rule["decision"].as_str().unwrap_or_default();
    let tools = texts(&rule["toolName"]);
    let is_about_commands =
        tools.contains(&SHELL) || !rule["commandPrefix"].is_null() || !rule["commandRegex"].is_null();
    if !is_about_commands || !matches!(decision, "ask_user" | "deny") {
        return;
    }
    let from = format!(
        "{name}: {decision} {}",
        [&rule["commandPrefix"], &rule["commandRegex"]].map(|one| texts(one).join(", ")).join("")
    );
    let from = from.trim_end();
    if let Some(key) = NARROWING.into_iter().find(|key| !rule[*key].is_null()) {
        return rules.skip(from, &format!("`{key}`"));
    }
    let prefixes = texts(&rule["commandPrefix"]);
    match (prefixes.as_slice(), decision) {
        ([], "ask_user") => rules.ask(None, from),
        // Denies the shell as a whole, so it is not a rule about commands.
        ([], _) => {}
        (prefixes, _) => prefixes.iter().for_each(|prefix| rules.ask(Some(prefix.trim()), from)),
    }
}

/// Returns the strings in a string or a list of strings.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut rules = Rules::default();
        translate("p.toml", text, &mut rules).expect("readable");
        translate("s.json", r#"{"tools": {"exclude": ["run_shell_command(sudo)", "glob"]}}"#, &mut rules)
            .expect("readable");
        let prefixes: Vec<_> = rules.translated.iter().filter_map(|one| one.rule.prefix.as_deref()).collect();
        assert_eq!(prefixes, ["git push", "rm -rf", "npm publish", "sudo"]);
        assert_eq!(rules.untranslated, ["p.toml: deny git (commit|push): `commandRegex`"]);
    }
}
