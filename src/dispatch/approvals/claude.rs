//! Claude Code's permission rules. Pure.

use serde_json::Value;

use super::Rules;
use crate::agents::{ConfigFile, ConfigFolder};
use crate::dispatch::merge::Format;

/// Claude Code's shell tool. A rule that denies it as a whole is not a rule about commands.
const SHELL: &str = "Bash";

pub(super) fn places() -> Vec<(ConfigFile, Option<&'static str>)> {
    vec![
        (ConfigFile::new(ConfigFolder::Own("CLAUDE_CONFIG_DIR", ".claude"), &["settings.json"]), None),
        (ConfigFile::new(ConfigFolder::Workspace, &[".claude/settings.json"]), None),
        (ConfigFile::new(ConfigFolder::Workspace, &[".claude/settings.local.json"]), None),
    ]
}

/// Translates `permissions.ask` and `permissions.deny`. What Claude Code would deny needs approval here.
pub(super) fn translate(name: &str, text: &str, rules: &mut Rules) -> Result<(), String> {
    let settings = Format::Jsonc.read(text).map_err(|error| error.to_string())?;
    let permissions = &settings["permissions"];
    for list in ["deny", "ask"] {
        for rule in permissions[list].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let from = format!("{name}: {list} {rule}");
            match rule.strip_prefix(SHELL) {
                Some("" | "(*)") if list == "ask" => rules.ask(None, &from),
                Some(rest) => {
                    if let Some(pattern) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
                        command(pattern, &from, rules);
                    }
                }
                // A rule about another tool.
                None => {}
            }
        }
    }
    if let Some(mode) = permissions["defaultMode"].as_str().filter(|mode| *mode != "bypassPermissions") {
        let why = "Claude Code asks about whatever its rules do not allow; here, a rule with no fields \
            asks about every command";
        rules.skip(&format!("{name}: defaultMode {mode}"), why);
    }
    Ok(())
}

/// Translates a command pattern: `git push:*`, `git push *` and `git push` all require approval for commands that
/// begin with these words.
fn command(pattern: &str, from: &str, rules: &mut Rules) {
    let words = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *")).unwrap_or(pattern);
    if words.contains('*') {
        return rules.skip(from, "a `*` anywhere but at the end");
    }
    rules.ask(Some(words.trim()), from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_about_commands_are_translated_and_nothing_is_guessed() {
        let text = r#"{ // mine
            "permissions": {
                "defaultMode": "default",
                "allow": ["Bash(npm run:*)"],
                "ask": ["Bash(git push:*)", "Bash(rm *)", "Read(./.env)", "Bash(git * main)", "Bash(ls; rm:*)"],
                "deny": ["Bash", "Monitor", "Bash(curl:*)", "Bash(git push:*)", "Bash(npm publish)", "Bash(npm*)"],
            } }"#;
        let mut rules = Rules::default();
        translate("f", text, &mut rules).expect("readable");
        let prefixes: Vec<_> = rules.translated.iter().filter_map(|one| one.rule.prefix.as_deref()).collect();
        assert_eq!(prefixes, ["curl", "git push", "npm publish", "rm"]);
        let left = rules.untranslated.join("\n");
        for rule in ["Bash(npm*)", "Bash(git * main)", "Bash(ls; rm:*)", "defaultMode default"] {
            assert!(left.contains(rule), "{rule}: {left}");
        }
        let mut rules = Rules::default();
        translate("f", r#"{"permissions": {"ask": ["Bash"]}}"#, &mut rules).expect("readable");
        assert_eq!(rules.translated[0].rule, crate::config::ApprovalRule::default());
        assert!(translate("f", "{", &mut rules).is_err());
    }
}
