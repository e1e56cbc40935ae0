//! Whatever was added is removed again, and nothing else changes.

use proptest::prelude::*;
use serde_json::json;

use super::*;

mod edits;
mod sample;

fn added(format: Format, text: &str, settings: &Value) -> String {
    format.add(text, settings).expect(text).text
}

/// Adds settings, changes the text, and removes what was added.
fn undone(format: Format, text: &str, settings: &Value, change: impl Fn(&str) -> String) -> String {
    let merged = format.add(text, settings).expect(text);
    format.remove(&change(&merged.text), &merged.added).expect("still readable").text
}

fn server() -> Value {
    json!({ "mcpServers": { "pilothouse": { "command": "pilothouse", "args": ["mcp"] } } })
}

#[test]
fn json_gets_a_key_where_its_neighbours_stand() {
    let ours = "{\n      \"command\": \"pilothouse\",\n      \"args\": [\"mcp\"]\n    }";
    for (before, after) in [
        ("", format!("{{\n  \"mcpServers\": {{\n    \"pilothouse\": {ours}\n  }}\n}}\n")),
        (
            "{\n  // mine\n  \"theme\": \"dark\" // by night\n}\n",
            format!(
                "{{\n  // mine\n  \"theme\": \"dark\", // by night\n  \"mcpServers\": {{\n    \"pilothouse\": {ours}\n  }}\n}}\n"
            ),
        ),
        (
            "{\n  \"mcpServers\": {\n    \"a\": {}, /* last */\n    // end\n  },\n}\n",
            format!(
                "{{\n  \"mcpServers\": {{\n    \"a\": {{}}, /* last */\n    \"pilothouse\": {ours},\n    // end\n  }},\n}}\n"
            ),
        ),
        (
            "{ \"mcpServers\": { \"a\": 1 } }",
            "{ \"mcpServers\": { \"a\": 1, \"pilothouse\": { \"command\": \"pilothouse\", \"args\": [\"mcp\"] } } }"
                .to_owned(),
        ),
    ] {
        assert_eq!(added(Format::Jsonc, before, &server()), after, "{before}");
        let back = undone(Format::Jsonc, before, &server(), str::to_owned);
        assert_eq!(back, before);
    }
}

#[test]
fn lists_get_what_is_missing_and_values_that_differ_stay() {
    let settings = json!({ "deny": ["Bash", "Monitor"], "trust": true });
    let merged = Format::Jsonc.add("{\"deny\": [\"Bash\"], \"trust\": false}", &settings).expect("merged");
    assert_eq!(merged.text, "{\"deny\": [\"Bash\", \"Monitor\"], \"trust\": false}");
    assert_eq!(merged.kept, ["trust"]);
    let again = Format::Jsonc.add(&merged.text, &settings).expect("merged");
    assert_eq!((again.text, again.added), (merged.text, Vec::new()), "idempotent");
}

#[test]
fn a_file_that_cannot_be_merged_safely_is_refused() {
    for (format, text) in [
        (Format::Jsonc, "[1]"),
        (Format::Jsonc, "{\"a\": }"),
        (Format::Jsonc, "{'a': 1}"),
        (Format::Jsonc, "{\"mcpServers\": 3}"),
        (Format::Jsonc, "{\"mcpServers\": {}, \"mcpServers\": {}}"),
        (Format::Toml, "mcpServers = 3"),
        (Format::Toml, "[a\n"),
    ] {
        assert!(format.add(text, &server()).is_err(), "{text:?}");
    }
}

#[test]
fn an_entry_of_ours_goes_whole_and_other_changes_stay() {
    let text = "{\n  \"theme\": \"dark\"\n}\n";
    let merged = Format::Jsonc.add(text, &server()).expect("merged");
    let edited = merged.text.replace("\"mcp\"]", "\"mcp\", \"--label\", \"x\"]").replace("dark", "light");
    let back = Format::Jsonc.remove(&edited, &merged.added).expect("removed");
    assert_eq!(back.text, "{\n  \"theme\": \"light\"\n}\n");
    let settings = json!({ "features": { "shell_tool": false } });
    let back = undone(Format::Toml, "a = 1\n", &settings, |text| text.replace("false", "true"));
    assert_eq!(back, "a = 1\n\n[features]\nshell_tool = true\n", "a value changed since stays");
}

#[test]
fn toml_gets_a_table_and_keeps_its_comments() {
    let settings = json!({
        "mcp_servers": { "pilothouse": { "command": "pilothouse", "args": ["mcp"] } },
        "features": { "shell_tool": false },
    });
    let text = "# mine\nmodel = \"x\" # best\n\n[features] # some\nweb = true\n\n# [profiles.x]\n";
    let ours = "[mcp_servers.pilothouse]\ncommand = \"pilothouse\"\nargs = [\"mcp\"]\n";
    let after = added(Format::Toml, text, &settings);
    assert!(after.contains(ours) && after.contains("web = true\nshell_tool = false\n"), "{after}");
    assert!(after.starts_with("# mine\nmodel = \"x\" # best\n\n[features] # some\n"), "{after}");
    let back = undone(Format::Toml, text, &settings, str::to_owned);
    assert_eq!(back.trim_end(), text.trim_end());
    let crlf = text.replace('\n', "\r\n");
    assert_eq!(added(Format::Toml, &crlf, &settings), after.replace('\n', "\r\n"));
    for text in [
        "features = { web = true }\n",
        "features.web = true\n",
        "[mcp_servers.other]\ncommand = \"x\"\n",
        "a = 1\r\nb = 2\n",
    ] {
        assert_eq!(undone(Format::Toml, text, &settings, str::to_owned), text, "{text}");
    }
}

/// JSON with comments, trailing commas and line breaks anywhere that they are allowed.
fn jsonc() -> impl Strategy<Value = String> {
    let gap =
        || prop_oneof![4 => Just(""), 1 => Just(" // note\n"), 1 => Just(" /* x */ "), 2 => Just("\n  ")];
    let scalar = prop_oneof![Just("1"), Just("\"//\""), Just("true"), Just("\"{,\"")].prop_map(str::to_owned);
    let value = scalar.prop_recursive(3, 12, 3, move |inner| {
        let entry = (0..6u8, gap(), inner.clone(), gap());
        let object =
            (prop::collection::vec(entry, 0..4), gap(), any::<bool>()).prop_map(|(entries, end, comma)| {
                let mut seen = Vec::new();
                let mut parts = Vec::new();
                for (key, before, value, after) in entries {
                    if !seen.contains(&key) {
                        seen.push(key);
                        let name = if key == 0 { "mcpServers".to_owned() } else { format!("k{key}") };
                        parts.push(format!("{before}\"{name}\": {value}{after}"));
                    }
                }
                let comma = if comma && !parts.is_empty() { "," } else { "" };
                format!("{{{}{comma}{end}}}", parts.join(","))
            });
        let list = prop::collection::vec((gap(), inner), 0..3).prop_map(|items| {
            format!(
                "[{}]",
                items.into_iter().map(|(gap, item)| format!("{gap}{item}")).collect::<Vec<_>>().join(",")
            )
        });
        prop_oneof![3 => object, 1 => list]
    });
    value.prop_filter("an object", |text| text.starts_with('{'))
}

proptest! {
    #[test]
    fn json_is_the_same_to_the_letter_once_undone(text in jsonc()) {
        let settings = json!({ "mcpServers": { "pilothouse": { "args": ["mcp"] } }, "deny": ["Bash"] });
        let before = Format::Jsonc.read(&text).expect("the generated text is well-formed");
        if let Ok(merged) = Format::Jsonc.add(&text, &settings) {
            let mut expected = before.clone();
            expected["mcpServers"]["pilothouse"] = settings["mcpServers"]["pilothouse"].clone();
            expected["deny"] = settings["deny"].clone();
            prop_assert_eq!(Format::Jsonc.read(&merged.text).expect("readable"), expected);
            let again = Format::Jsonc.add(&merged.text, &settings).expect("mergeable");
            prop_assert_eq!(&again.text, &merged.text);
            let back = Format::Jsonc.remove(&merged.text, &merged.added).expect("readable").text;
            prop_assert_eq!(Format::Jsonc.read(&back).expect("readable"), before);
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&back), bare(&text));
        }
    }

    #[test]
    fn an_edit_elsewhere_survives_the_undoing(text in jsonc()) {
        let settings = json!({ "mcpServers": { "pilothouse": { "args": ["mcp"] } } });
        if let Ok(merged) = Format::Jsonc.add(&text, &settings) {
            let edited = Format::Jsonc.add(&merged.text, &json!({ "mcpServers": { "mine": 1 }, "z": [2] }));
            let edited = edited.expect("mergeable").text;
            let back = Format::Jsonc.remove(&edited, &merged.added).expect("readable").text;
            let mut expected = Format::Jsonc.read(&text).expect("readable");
            expected["mcpServers"]["mine"] = json!(1);
            expected["z"] = json!([2]);
            prop_assert_eq!(Format::Jsonc.read(&back).expect("readable"), expected);
        }
    }
}
