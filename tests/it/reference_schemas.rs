//! The JSON Schemas in docs/reference/schemas are those of the program, and they reject invalid data.

use std::path::{Path, PathBuf};

use pilothouse::tools::schemas;
use serde_json::{Value, json};

use crate::support::{Home, judged, must_be_an_envelope, recorded_envelopes_are_valid};
use crate::tools_receipts::gallery;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/schemas")
}

fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

#[test]
fn the_checked_in_schemas_are_those_of_the_program() {
    let folder = folder();
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the folder");
        for (name, schema) in schemas() {
            std::fs::write(folder.join(name), text(&schema)).expect("written");
        }
    }
    let renew = "run `UPDATE_REFERENCE=1 cargo test --test it reference_schemas` and look at the difference";
    let mut known: Vec<String> = Vec::new();
    for (name, schema) in schemas() {
        let there = std::fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert!(there == text(&schema), "docs/reference/schemas/{name} is not what the program has: {renew}");
        known.push(name);
    }
    for entry in std::fs::read_dir(&folder).expect("the folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(known.contains(&name), "docs/reference/schemas/{name} belongs to nothing: {renew}");
    }
}

#[test]
fn every_answer_there_is_matches_its_schema() {
    for (_, envelope) in gallery() {
        must_be_an_envelope(&envelope.to_value());
    }
}

type Spoil = fn(&mut Value);

#[test]
fn an_invalid_envelope_fails_the_schema() {
    let good = gallery()[0].1.to_value();
    let broken: [(&str, Spoil); 6] = [
        ("a missing key", |value| drop(value.as_object_mut().map(|keys| keys.remove("error")))),
        ("another key", |value| value["extra"] = json!(1)),
        ("an error beside a result", |value| {
            value["error"] = json!({"kind": "internal_error", "message": "m", "retryable": false})
        }),
        ("another status", |value| value["status"] = json!("maybe")),
        ("two lines of summary", |value| value["summary_text"] = json!("a\nb")),
        ("a result of another form", |value| value["result"]["exit_status"] = json!("none")),
    ];
    for (what, spoil) in broken {
        let mut value = good.clone();
        spoil(&mut value);
        assert!(judged(&value).is_err(), "{what} passes");
    }
}

#[test]
fn the_recorded_envelopes_of_a_runtime_match_the_schemas() {
    let home = Home::new();
    for line in ["printf recorded", "exit 3"] {
        let _ = home.call(&["command", "run", "--login=false", line]);
    }
    let _ = home.call(&["task", "status", "task_00000000"]);
    assert_eq!(recorded_envelopes_are_valid(&home.places().recordings()), 3);
}
