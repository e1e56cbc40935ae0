//! What four real agents gave their models, captured by `.ci/long agents` in tests/agents/fixtures: no client has
//! truncated anything, and the same calls get the same answers today.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Home, Wire};

/// Situations that involve only the agent, and so can be replayed without it.
const ALONE: &[&str] = &[
    "success",
    "exit-3",
    "long-output",
    "batch",
    "promote",
    "read-on",
    "match",
    "stop",
    "held-alone",
    "wrong-arguments",
];

/// The client names that the agents announce.
const CLIENTS: &[(&str, &str)] = &[
    ("claude", "claude-code"),
    ("codex", "codex-mcp-client"),
    ("gemini", "gemini-cli-mcp-client"),
    ("opencode", "opencode"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/fixtures")
}

fn fixtures() -> Vec<Value> {
    let agents = fs::read_dir(folder()).expect("fixtures").map(|agent| agent.expect("an agent").path());
    let files = agents.flat_map(|agent| fs::read_dir(agent).expect("situations"));
    let mut all: Vec<_> = files.map(|file| file.expect("a situation").path()).collect();
    all.sort();
    all.iter().map(|file| serde_json::from_slice(&fs::read(file).expect("read")).expect("JSON")).collect()
}

fn steps(fixture: &Value) -> &[Value] {
    fixture["steps"].as_array().map_or(&[], Vec::as_slice)
}

/// Replaces what differs from run to run with names: paths, ids in the order they appear, times.
#[derive(Default)]
struct Plain {
    ids: HashMap<String, String>,
    paths: Vec<(String, &'static str)>,
}

impl Plain {
    fn of(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (path, name) in &self.paths {
            text = text.replace(path, name);
        }
        Self::times(&self.named(&text))
    }

    fn named(&mut self, text: &str) -> String {
        let mut pieces = text.split("task_");
        let mut named = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let id =
                piece.get(..8).filter(|id| id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
            match id {
                Some(id) => {
                    let next = format!("{:08}", self.ids.len() + 1);
                    let name = self.ids.entry(id.to_owned()).or_insert(next);
                    named += &format!("task_{name}{}", &piece[8..]);
                }
                None => named += &format!("task_{piece}"),
            }
        }
        named
    }

    /// Returns the text with times such as `12 ms`, `12ms` and `1.2 s` replaced by `<time>`.
    fn times(text: &str) -> String {
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let before = rest[..at].chars().next_back();
            plain += &rest[..at];
            rest = &rest[at..];
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            let unit = after.strip_prefix(' ').unwrap_or(after);
            let whole = ["ms", "s"].iter().find_map(|unit_word| {
                let tail = unit.strip_prefix(unit_word)?;
                (!tail.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then_some(tail)
            });
            match whole {
                Some(tail)
                    if !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && !number.ends_with('.') =>
                {
                    plain += "<time>";
                    rest = tail;
                }
                _ => {
                    plain += number;
                    rest = after;
                }
            }
        }
        plain + rest
    }

    /// Inserts this run's ids where the fixture's arguments have names.
    fn back(&self, arguments: &Value) -> Value {
        let mut text = arguments.to_string();
        for (id, name) in &self.ids {
            text = text.replace(&format!("task_{name}"), &format!("task_{id}"));
        }
        serde_json::from_str(&text).expect("JSON")
    }
}

#[test]
fn no_client_has_cut_a_receipt_and_each_agent_was_seen() {
    let fixtures = fixtures();
    for (agent, _) in CLIENTS {
        let seen = fixtures.iter().filter(|fixture| fixture["agent"] == *agent).count();
        assert!(seen >= 15, "{agent}: {seen} situations");
    }
    for fixture in &fixtures {
        let name = format!("{} {}", fixture["agent"], fixture["situation"]);
        assert_eq!(fixture["failure"], Value::Null, "{name}");
        assert!(fixture["tools"].as_array().is_some_and(|tools| (1..=8).contains(&tools.len())), "{name}");
        for step in steps(fixture) {
            assert_ne!(step["form"], "cut", "{name}: {step}");
        }
    }
}

#[test]
fn the_same_calls_are_answered_as_the_models_of_real_agents_saw_it() {
    let chosen = |fixture: &&Value| ALONE.iter().any(|situation| fixture["situation"] == *situation);
    let fixtures = fixtures();
    let mut replayed = 0;
    for fixture in fixtures.iter().filter(chosen) {
        replay(fixture);
        replayed += 1;
    }
    assert!(replayed >= 30, "{replayed} fixtures were replayed");
}

fn replay(fixture: &Value) {
    let expected: Vec<_> = answered(fixture).map(|step| step["given"].as_str().expect("text")).collect();
    let mut given = replayed(fixture, 1);
    // On a slow machine a command may not have printed anything yet when its call stops waiting.
    let is_early = |text: &str| text.contains("(none captured before promotion)");
    if given.iter().zip(&expected).any(|(given, expected)| is_early(given) && !is_early(expected)) {
        given = replayed(fixture, 20);
    }
    assert_eq!(given, expected, "{} {}", fixture["agent"], fixture["situation"]);
}

/// The steps that the runtime answered: what a client answered itself never reached it.
fn answered(fixture: &Value) -> impl Iterator<Item = &Value> {
    steps(fixture).iter().filter(|step| step["form"] != "client")
}

/// The answers to a fixture's calls today; each call waits for its command `times` as long as its model said.
fn replayed(fixture: &Value, times: u64) -> Vec<String> {
    let client = CLIENTS.iter().find(|(agent, _)| fixture["agent"] == *agent).expect("a known agent").1;
    let home = Home::new();
    if fixture["situation"] == "held-alone" {
        home.configure("config.toml", "[[approvals]]\nprefix = \"git push\"\n");
    }
    let mut wire = Wire::open(&home, client);
    let mut plain = Plain::default();
    let mut all = Vec::new();
    for step in answered(fixture) {
        let mut arguments = plain.back(&step["arguments"]);
        if let Some(wait) = arguments["yield_time_ms"].as_u64() {
            arguments["yield_time_ms"] = json!(wait * times);
        }
        let call = json!({"name": step["tool"], "arguments": arguments});
        let answer = wire.ask(json!("call"), "tools/call", call);
        let given =
            answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        plain.paths = paths(&home);
        all.push(short(&plain.of(&given)));
    }
    all
}

/// Shortens a long text to its beginning and end, with the length of the rest between, as in the fixtures.
fn short(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let part = |chars: &[char]| chars.iter().collect::<String>();
    match chars.len() {
        0..=4_000 => text.to_owned(),
        all => format!(
            "{}\n[{} characters left out here]\n{}",
            part(&chars[..2_000]),
            all - 3_000,
            part(&chars[all - 1_000..])
        ),
    }
}

fn paths(home: &Home) -> Vec<(String, &'static str)> {
    let recordings = fs::read_dir(home.places().recordings()).into_iter().flatten();
    let mut paths: Vec<_> = recordings
        .filter_map(|entry| Some((entry.ok()?.path().to_str()?.to_owned(), "<recording>")))
        .collect();
    paths.push((home.places().workspace.to_string_lossy().into_owned(), "<workspace>"));
    paths
}
