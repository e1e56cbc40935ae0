//! Saving things as files: what is offered where, what the file contains, and where it is saved.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::export::FileName;
use pilothouse::envelope::Envelope;
use pilothouse::link::{Act, Request};
use pilothouse::model::CallRecord;
use pilothouse::runtime::ExportForm;
use pilothouse::terminal::Palette;
use serde_json::{Value, json};

use crate::console_fixture::{SIZES, console, id, press, record, select, shown, snapshot};

/// Types words that filter an open list, and chooses the first row.
fn choose(app: &mut App, words: &str) -> Vec<Effect> {
    let keys: Vec<String> =
        words.chars().map(|c| if c == ' ' { "Space".to_owned() } else { c.to_string() }).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let _ = press(app, &keys);
    press(app, &["Enter"])
}

/// The file to be written.
fn kept(effects: &[Effect]) -> (String, String) {
    let files = effects.iter().filter_map(|effect| match effect {
        Effect::WriteFile { file, text } => Some((file.attempt(0), text.clone())),
        _ => None,
    });
    let files: Vec<_> = files.collect();
    assert_eq!(files.len(), 1, "{effects:?}");
    files.into_iter().next().expect("one file")
}

fn batch() -> CallRecord {
    let items =
        json!([{"index": 1, "cmd": "true", "status": "completed"}, {"index": 2, "cmd": "printf '\n'"}]);
    let result = json!({"item_count": 2, "completed_count": 2, "items": items});
    let envelope = Envelope::success("ExecCommandBatch", "ExecCommandBatch completed 2/2 items", &result);
    CallRecord {
        tool: "ExecCommandBatch".into(),
        receipt: Some("ExecCommandBatch completed 2/2 items\n\n[1] true\nexit=0\n\u{1b}[7mx\t ".into()),
        envelope: Some(envelope.to_value()),
        ..record()
    }
}

#[test]
fn the_counters_are_kept_as_a_script_gets_them() {
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &["4", "e"]);
    assert!(shown(&app).contains("metrics json"), "{}", shown(&app));
    let from_list = kept(&press(&mut app, &["Enter"]));
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &[":"]);
    let from_palette = kept(&choose(&mut app, "export-metrics"));
    assert_eq!(from_list, from_palette);
    let (name, text) = from_list;
    assert_eq!(name, "pilothouse-metrics.json");
    let told: Value = serde_json::from_str(&text).expect("JSON");
    let counted = snapshot().metrics;
    assert_eq!(told["shell_commands"], counted.shell_commands());
    assert_eq!(told["tasks_started"], counted.tasks_started);
    assert!(counted.tasks_started > 0);
}

/// The receipts screen at call 310.
fn reading(record: CallRecord) -> App {
    let mut app = console(snapshot(), (120, 40));
    let _ = press(&mut app, &["3", "g", "j", "j", "j"]);
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(record.seq));
    let _ = app.update(Msg::Record(Arc::new(record)));
    app
}

#[test]
fn the_exports_of_a_task_are_listed_at_each_size() {
    for (columns, rows) in SIZES {
        let mut app = console(snapshot(), (columns, rows));
        select(&mut app, 7);
        let _ = press(&mut app, &["e"]);
        insta::assert_snapshot!(format!("export_task_{columns}x{rows}"), shown(&app));
    }
    let mut app = reading(record());
    let _ = press(&mut app, &["e"]);
    insta::assert_snapshot!("export_call_120x40", shown(&app));
}

#[test]
fn a_task_is_kept_in_each_form() {
    for (word, form, name) in [
        ("t07 text", ExportForm::Text, "pilothouse-t07.txt"),
        ("t07 html", ExportForm::Html, "pilothouse-t07.html"),
        ("t07 svg", ExportForm::Svg, "pilothouse-t07.svg"),
        ("t07 cast", ExportForm::Cast, "pilothouse-t07.cast"),
        ("t07 cast-v2", ExportForm::CastV2, "pilothouse-t07.v2.cast"),
    ] {
        let mut app = console(snapshot(), (120, 40));
        select(&mut app, 7);
        app.state.setup.theme_set.active = "light".into();
        let _ = press(&mut app, &["e"]);
        let effects = choose(&mut app, word);
        let [Effect::WriteExport { task, form: made, palette, file }] = &effects[..] else {
            panic!("{word}: {effects:?}")
        };
        assert_eq!((&task.id, *made, file.attempt(0).as_str()), (&id(7), form, name));
        assert_eq!(*palette, Palette::LIGHT, "a light theme is kept on light paper");
    }
}

#[test]
fn a_receipt_is_kept_byte_for_byte_and_an_envelope_whole_whatever_the_budget() {
    let mut app = reading(batch());
    let _ = press(&mut app, &["Tab", "-", "-", "e"]);
    let (name, text) = kept(&choose(&mut app, "receipt"));
    assert_eq!((name.as_str(), Some(text)), ("pilothouse-call-310.txt", batch().receipt));
    let _ = press(&mut app, &["e"]);
    let (name, text) = kept(&choose(&mut app, "envelope"));
    assert_eq!(name, "pilothouse-call-310.json");
    assert_eq!(Some(serde_json::from_str::<Value>(&text).expect("JSON")), batch().envelope);
    let _ = press(&mut app, &["e"]);
    let (name, text) = kept(&choose(&mut app, "items"));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    assert_eq!((name.as_str(), lines.len()), ("pilothouse-call-310.jsonl", 2));
    assert_eq!(lines[1]["cmd"], "printf '\n'");
}

#[test]
fn an_unavailable_export_says_why() {
    let mut app = reading(record());
    let _ = press(&mut app, &["e"]);
    assert!(shown(&app).contains("not now: it is no batch"), "{}", shown(&app));
    assert!(choose(&mut app, "items").iter().all(|effect| !matches!(effect, Effect::WriteFile { .. })));
    let unanswered = CallRecord { envelope: None, receipt: None, ..record() };
    let mut app = reading(unanswered);
    let _ = press(&mut app, &["e"]);
    assert_eq!(shown(&app).matches("not now: not answered yet").count(), 5, "{}", shown(&app));
}

#[test]
fn the_screen_is_kept_as_it_is_drawn_without_the_list_over_it() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 7);
    let before = shown(&app);
    let _ = press(&mut app, &["e"]);
    let (name, text) = kept(&choose(&mut app, "screen text"));
    assert_eq!((name.as_str(), text.as_str()), ("pilothouse-tasks.txt", before.as_str()));
    let _ = press(&mut app, &[":"]);
    let (name, svg) = kept(&choose(&mut app, "screenshot"));
    assert_eq!(name, "pilothouse-tasks.svg");
    assert!(svg.contains("package name: (demo-repo)") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(!svg.contains("screenshot"), "the palette is not in it");
}

#[test]
fn a_key_takes_the_picture_of_a_dialog_and_goes_to_the_task_while_typing() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 6);
    let _ = press(&mut app, &["s"]);
    let (_, svg) = kept(&press(&mut app, &["F9"]));
    assert!(svg.contains("stop t06?"), "{svg}");
    assert_eq!(app.layers.len(), 1, "the dialog is still asked");
    let _ = press(&mut app, &["Esc"]);
    select(&mut app, 7);
    let _ = press(&mut app, &["Enter"]);
    let effects = press(&mut app, &["F9"]);
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::Ask(Request { act: Act::Send(_), .. }))),
        "{effects:?}"
    );
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::WriteFile { .. })), "{effects:?}");
}

#[test]
fn the_path_of_a_file_is_told_and_copied() {
    let mut app = console(snapshot(), (80, 24));
    select(&mut app, 7);
    let name = FileName::of("t07", "svg").attempt(1);
    let effects = app.update(Msg::FileWritten { folder: "/home/ana/exports/".into(), name });
    assert!(shown(&app).contains("pilothouse-t07-2.svg in /home/ana/exports/"), "{}", shown(&app));
    assert!(
        matches!(&effects[..], [Effect::Yank { text, .. }] if text == "/home/ana/exports/pilothouse-t07-2.svg"),
        "{effects:?}"
    );
}

/// The players that distributions ship read version 2, but not yet version 3.
#[test]
fn the_recordings_in_the_repository_are_of_the_version_that_players_have() {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    for name in ["demo.cast", "deploy/deploy.cast"] {
        let text = std::fs::read_to_string(assets.join(name)).expect("a recording");
        let mut lines =
            text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        assert_eq!(lines.next().expect("a header")["version"], 2, "{name}");
        let times: Vec<f64> = lines.map(|event| event[0].as_f64().expect("a time")).collect();
        assert!(times.len() > 50 && times.is_sorted(), "{name}");
    }
}
