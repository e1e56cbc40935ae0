//! Codex's rules: `prefix_rule(…)` in Starlark files, of which only this call with literal arguments is parsed.

use serde_json::Value;

use crate::agents::rules::{CommandRules, RuleFile};
use crate::config::quoted;

/// The maximum number of prefixes that a rule with alternatives may expand to.
const MAX_PREFIXES: usize = 64;
/// The maximum nesting depth of lists.
const MAX_DEPTH: usize = 4;

/// Translates rules that prompt or forbid. What Codex would forbid needs approval here.
pub(super) fn translate(file: RuleFile<'_>, rules: &mut CommandRules) -> Result<(), String> {
    let name = file.name;
    if name.ends_with(".toml") {
        let settings = (file.settings)()?;
        for (key, why) in [
            (
                "approval_policy",
                "Codex decides by its sandbox; here, a rule with no fields asks about every command",
            ),
            ("sandbox_mode", "commands run here are not sandboxed"),
        ] {
            if let Some(value) = settings[key].as_str() {
                rules.skip(&format!("{name}: {key} {value}"), why);
            }
        }
        return Ok(());
    }
    let tokens = tokens(file.text)?;
    let mut rest = tokens.as_slice();
    while let Some((first, after)) = rest.split_first() {
        match (first, after.first()) {
            (StarlarkToken::Word(called), Some(StarlarkToken::Mark('('))) => {
                let (arguments, next) = arguments(&after[1..])?;
                if called == "prefix_rule" {
                    prefix_rule(name, &arguments, rules);
                } else if called != "host_executable" {
                    rules.skip(&format!("{name}: {called}(…)"), "only prefix_rule is read");
                }
                rest = next;
            }
            _ => return Err("only calls with literal arguments are read".to_owned()),
        }
    }
    Ok(())
}

fn prefix_rule(name: &str, arguments: &[(String, Value)], rules: &mut CommandRules) {
    let argument = |key: &str| arguments.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let decision = argument("decision").and_then(Value::as_str).unwrap_or("allow");
    if decision == "allow" {
        return;
    }
    let pattern = argument("pattern").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let from = format!("{name}: {decision} {}", Value::from(pattern));
    let mut prefixes = vec![Vec::new()];
    for element in pattern {
        let words: Vec<&str> = match element {
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
            word => word.as_str().into_iter().collect(),
        };
        let longer = |prefix: &Vec<String>| -> Vec<Vec<String>> {
            words.iter().map(|word| prefix.iter().cloned().chain([quoted(word)]).collect()).collect()
        };
        prefixes = prefixes.iter().flat_map(longer).collect();
        if prefixes.len() > MAX_PREFIXES {
            return rules.skip(&from, "it matches too many commands");
        }
    }
    prefixes.iter().for_each(|words| rules.ask(Some(&words.join(" ")), &from));
}

/// A token of Starlark.
#[derive(Debug, Clone, PartialEq)]
enum StarlarkToken {
    Word(String),
    Text(String),
    Mark(char),
}

fn tokens(text: &str) -> Result<Vec<StarlarkToken>, String> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '#' => while chars.next_if(|c| *c != '\n').is_some() {},
            '"' | '\'' => {
                let mut value = String::new();
                loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some('\\') => value.extend(chars.next()),
                        Some('\n') | None => return Err("an unterminated string".to_owned()),
                        Some(c) => value.push(c),
                    }
                }
                tokens.push(StarlarkToken::Text(value));
            }
            '(' | ')' | '[' | ']' | ',' | '=' => tokens.push(StarlarkToken::Mark(c)),
            c if c.is_alphabetic() || c == '_' => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    word.push(c);
                }
                tokens.push(StarlarkToken::Word(word));
            }
            c if c.is_whitespace() => {}
            c => return Err(format!("`{c}` is not understood")),
        }
    }
    Ok(tokens)
}

/// The named arguments of a call, and the tokens after it.
type Arguments<'a> = (Vec<(String, Value)>, &'a [StarlarkToken]);

fn arguments(mut rest: &[StarlarkToken]) -> Result<Arguments<'_>, String> {
    let mut arguments = Vec::new();
    loop {
        match rest {
            [StarlarkToken::Mark(')'), rest @ ..] => return Ok((arguments, rest)),
            [StarlarkToken::Mark(','), after @ ..] => rest = after,
            [StarlarkToken::Word(name), StarlarkToken::Mark('='), after @ ..] => {
                let (value, after) = value(after, 0)?;
                arguments.push((name.clone(), value));
                rest = after;
            }
            _ => return Err("only named arguments with literal values are read".to_owned()),
        }
    }
}

fn value(tokens: &[StarlarkToken], depth: usize) -> Result<(Value, &[StarlarkToken]), String> {
    match tokens {
        [StarlarkToken::Text(text), rest @ ..] => Ok((Value::from(text.as_str()), rest)),
        [StarlarkToken::Mark('['), rest @ ..] if depth < MAX_DEPTH => {
            let (mut items, mut rest) = (Vec::new(), rest);
            loop {
                match rest {
                    [StarlarkToken::Mark(']'), rest @ ..] => return Ok((Value::from(items), rest)),
                    [StarlarkToken::Mark(','), after @ ..] => rest = after,
                    _ => {
                        let (item, after) = value(rest, depth + 1)?;
                        items.push(item);
                        rest = after;
                    }
                }
            }
        }
        _ => Err("only strings and lists of strings are read".to_owned()),
    }
}
