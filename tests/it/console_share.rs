//! Sharing a call: what the page and the picture contain, what is masked in them, and that no text becomes markup.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::coverage::{CommandCoverage, StreamTranscript};
use pilothouse::model::CallRecord;
use serde_json::json;

use crate::console_fixture::{build, console, obstacle, press, record, shown, snapshot};

/// The receipts screen at call 308, which ended with 101.
fn opened(change: impl FnOnce(&mut CallRecord)) -> App {
    let mut app = console(snapshot(), (120, 40));
    let _ = press(&mut app, &["3", "g", "j", "j", "j", "j", "j"]);
    let mut record = build();
    change(&mut record);
    let _ = app.update(Msg::Record(Arc::new(record)));
    assert_eq!(app.state.shown_call().map(|call| call.seq), Some(308));
    app
}

/// Shares the current call, whose output was more than what was sent of it; returns the file's name and text.
fn shared(app: &mut App, keys: &[&str], more: &str) -> (String, String) {
    let asked = press(app, keys);
    let shown = asked.into_iter().find_map(|effect| match effect {
        Effect::Coverage { call: 308, shown } => Some(shown),
        _ => None,
    });
    let read = shown.expect("the output is read").into_iter().map(|command| CommandCoverage {
        name: command.name,
        streams: Ok(command
            .streams
            .into_iter()
            .map(|stream| {
                let all = format!("{}{more}", stream.sent.clone().unwrap_or_default());
                (stream, StreamTranscript { all, ..StreamTranscript::default() })
            })
            .collect()),
    });
    let read = read.collect();
    kept(&app.update(Msg::Coverage(308, read)))
}

fn kept(effects: &[Effect]) -> (String, String) {
    let mut files = effects.iter().filter_map(|effect| match effect {
        Effect::WriteFile { file, text } => Some((file.attempt(0), text.clone())),
        _ => None,
    });
    files.next_back().unwrap_or_else(|| panic!("no file: {effects:?}"))
}

#[test]
fn a_page_and_a_picture_tell_the_whole_call() {
    for (keys, name) in [
        (&["h"][..], "pilothouse-call-308.html"),
        (&[":", "s", "h", "a", "r", "e", "-", "s", "v", "g", "Enter"], "pilothouse-call-308.svg"),
    ] {
        let mut app = opened(|_| {});
        let (file, text) = shared(&mut app, keys, &"and on\n".repeat(9));
        assert_eq!(file, name);
        for part in [
            "cargo build --workspace",
            "exit 101",
            "claude",
            "58.2 s",
            "2026-11-21 12:03:20",
            "demo-repo",
            "Process exited with code 101",
            "&quot;tool_name&quot;",
            "what was given",
            "44 of 62 lines seen",
            "9 lines it did not see",
        ] {
            assert!(text.contains(part), "{part} in {name}:\n{text}");
        }
        assert!(app.state.reader.is_none(), "nothing is opened");
    }
}

/// The same name in the list of exports, in the palette and in help.
#[test]
fn the_action_share_has_the_same_name_everywhere() {
    let mut app = opened(|_| {});
    assert!(shown(&app).contains("h share"), "{}", shown(&app));
    let _ = press(&mut app, &["e"]);
    assert!(shown(&app).contains("▸ share 308"), "{}", shown(&app));
    let (file, _) = shared(&mut app, &["Enter"], "");
    assert_eq!(file, "pilothouse-call-308.html");
    assert_eq!(Action::Share.name(), "share");
    let unanswered = opened(|record| (record.envelope, record.receipt) = (None, None));
    assert_eq!(obstacle(&unanswered, Action::Share).as_deref(), Some("there is no answer to share yet"));
}

#[test]
fn hostile_text_is_never_markup() {
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\"' --></pre><b>&amp;\u{202e}\u{1b}[31m";
    for keys in [&["h"][..], &[":", "s", "h", "a", "r", "e", "-", "s", "v", "g", "Enter"]] {
        let mut app = opened(|record| {
            record.input = json!({ "cmd": evil });
            record.actor = pilothouse::envelope::Actor::Agent(evil.into());
            record.receipt = Some(evil.into());
            let result = record.envelope.as_mut().and_then(|envelope| envelope.get_mut("result"));
            let result = result.expect("a result");
            result["stdout_preview"] = json!(evil);
            result["signal"] = json!(evil);
            result[evil] = json!(evil);
        });
        let (_, text) = shared(&mut app, keys, evil);
        for markup in ["<script", "<img", "<b>", "</pre><b", "\u{202e}", "\u{1b}", "onerror=alert(2)>"] {
            assert!(!text.contains(markup), "{markup:?} in\n{text}");
        }
        assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{text}");
        assert!(text.contains("⟨U+202E⟩") && text.contains("⟨U+001B⟩"), "{text}");
    }
    let mut app = opened(|_| {});
    let (_, page) = shared(&mut app, &["h"], "");
    assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none'"), "{page}");
    assert!(!page.contains("href") && !page.contains("src="), "nothing from elsewhere");
}

#[test]
fn secrets_are_masked_in_every_part() {
    let secret = "API_TOKEN=hunter2 run --password hunter2\n";
    for keys in [&["h"][..], &[":", "s", "h", "a", "r", "e", "-", "s", "v", "g", "Enter"]] {
        let mut app = opened(|record| {
            record.input = json!({ "cmd": secret });
            record.receipt = Some(format!("Process exited with code 0\n\nstdout:\n{secret}"));
            let result = record.envelope.as_mut().and_then(|envelope| envelope.get_mut("result"));
            let result = result.expect("a result");
            result["stdout_preview"] = json!(secret);
            result["stderr_preview"] = json!("password: 'hunter2\nhunter2'\n");
        });
        let (_, text) = shared(&mut app, keys, secret);
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("[masked]"), "{text}");
    }
}

/// An answer that shows no output of a task is shared all the same, and says so.
#[test]
fn an_answer_without_output_is_shared_too() {
    let mut app = console(snapshot(), (120, 40));
    let _ = press(&mut app, &["3", "g", "j", "j"]);
    let _ = app.update(Msg::Record(Arc::new(crate::console_fixture::refusal())));
    let (file, text) = kept(&press(&mut app, &["h"]));
    assert_eq!(file, "pilothouse-call-311.html");
    assert!(text.contains("this answer shows no output of a task"), "{text}");
    assert!(text.contains("npm init"), "the command it typed into\n{text}");
}

/// Output that cannot be read does not keep the page from being written, nor `v` from working afterwards.
#[test]
fn output_that_cannot_be_read_is_said_and_the_next_look_is_a_look() {
    let mut app = opened(|_| {});
    let gone = || vec![CommandCoverage { name: String::new(), streams: Err("its log is gone".into()) }];
    let _ = press(&mut app, &["h"]);
    let (_, text) = kept(&app.update(Msg::Coverage(308, gone())));
    assert!(text.contains("its log is gone"), "{text}");
    let _ = press(&mut app, &["h", "v"]);
    let effects = app.update(Msg::Coverage(308, Vec::new()));
    assert!(effects.iter().all(|effect| !matches!(effect, Effect::WriteFile { .. })), "{effects:?}");
    assert!(app.state.reader.is_some());
    let _ = press(&mut app, &["Esc", "v"]);
    let _ = app.update(Msg::Coverage(308, gone()));
    assert!(shown(&app).contains("what the agent saw: its log is gone"), "{}", shown(&app));
    assert_eq!(record().seq, 310);
}

#[test]
fn each_picture_of_the_screen_says_what_it_shows() {
    let mut app = console(snapshot(), (80, 24));
    crate::console_fixture::select(&mut app, 4);
    let (_, svg) = kept(&press(&mut app, &["F9"]));
    for part in ["cargo clippy --all-targets -- -D warnings", "exit 101, 2026-11-21 12:04:31"] {
        assert!(svg.contains(part), "{part}\n{svg}");
    }
}
