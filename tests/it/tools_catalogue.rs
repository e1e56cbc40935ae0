//! What agents are told before they call: descriptions, hints and schemas of the tools.

use std::time::Duration;

use pilothouse::config::Limits;
use pilothouse::tools::{TOOLS, Tool};

fn entry(tool: &Tool) -> String {
    let hints = tool.hints;
    let input = serde_json::to_string_pretty(&(tool.input_schema)()).expect("a schema");
    format!(
        "# {} ({}), `pilothouse {}`\n\nread_only={} destructive={} idempotent={} open_world={}\n\n{}\n\n{input}\n",
        tool.name,
        tool.title,
        tool.cli.join(" "),
        hints.read_only,
        hints.destructive,
        hints.idempotent,
        hints.open_world,
        tool.description(Some(&Limits::default())),
    )
}

#[test]
fn the_descriptions_and_input_schemas_match_their_snapshots() {
    for tool in &TOOLS {
        let entry = entry(tool);
        insta::assert_snapshot!(tool.name, entry);
    }
}

#[test]
fn the_result_schemas_match_their_snapshots() {
    for tool in &TOOLS {
        let schema = serde_json::to_string_pretty(&(tool.result_schema)()).unwrap();
        insta::assert_snapshot!(format!("{}_result", tool.name), schema);
    }
}

#[test]
fn every_tool_says_whose_ids_it_means() {
    for tool in &TOOLS {
        let noun = if tool.name.starts_with("Question") { "pilothouse question" } else { "pilothouse task" };
        assert!(tool.description(None).to_lowercase().contains(noun), "{}", tool.name);
    }
}

#[test]
fn limits_in_descriptions_are_those_of_the_settings() {
    let limits = Limits {
        stop_grace: Duration::from_secs(30),
        batch_deadline: Duration::from_secs(20),
        ..Limits::default()
    };
    let all =
        |limits: Option<&Limits>| -> String { TOOLS.iter().map(|tool| tool.description(limits)).collect() };
    let told = all(Some(&limits));
    assert!(told.contains("killed after 30 s;") && told.contains("After 20 s no further item"), "{told}");
    let unknown = all(None);
    assert!(unknown.contains("killed after a grace period;") && !unknown.contains('{'), "{unknown}");
}
