//! What the agent saw: the complete transcript of a task, marking what an answer showed of it.

use std::sync::Arc;

use pilothouse::console::app::App;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::coverage::{
    CommandCoverage, CoveredCommand, CoveredStream, StreamTranscript,
};
use pilothouse::envelope::preview::{self, StreamText};
use pilothouse::model::CallRecord;
use pilothouse::runtime::OutputStream;
use serde_json::{Value, json};

use crate::console_fixture::{
    ALL_SIZES, SIZES, build, console, id, obstacle, press, record, shown, snapshot,
};

fn printed(lines: std::ops::Range<usize>) -> String {
    lines.map(|n| format!("test parser::tests::case_{n:03} ... ok\n")).collect()
}

/// Call 310 as an answer of TaskOutput: lines 6 to 85 of 100, truncated.
fn reading() -> CallRecord {
    let cut = preview::cut(&StreamText::Whole(printed(5..85)), 700).expect("not blank");
    let (since, next) = (printed(0..5).len(), printed(0..85).len());
    let task = json!({"task_id": id(7), "status": "running", "output_preview": cut.text,
        "output_truncated": cut.truncated, "next_cursor": format!("c{next:x}"), "view": "transcript"});
    let envelope = json!({"tool_name": "TaskOutput", "status": "success", "summary_text": "task running",
        "result": {"retrieval_status": "success", "task": task}, "error": Value::Null});
    let input = json!({"task_id": id(7), "since": format!("c{since:x}")});
    CallRecord { tool: "TaskOutput".into(), input, envelope: Some(envelope), ..record() }
}

/// The receipts screen at call 310.
fn opened(record: CallRecord, size: (u16, u16)) -> App {
    let mut app = console(snapshot(), size);
    let _ = press(&mut app, &["3", "g", "j", "j", "j"]);
    let _ = app.update(Msg::Record(Arc::new(record)));
    app
}

fn asked_of(effects: &[Effect]) -> Option<&[CoveredCommand]> {
    effects.iter().find_map(|effect| match effect {
        Effect::Coverage { shown, .. } => Some(shown.as_slice()),
        _ => None,
    })
}

fn asked(effects: &[Effect]) -> Option<&[CoveredStream]> {
    let [only] = asked_of(effects)? else { panic!("{effects:?}") };
    Some(&only.streams)
}

fn told(streams: Vec<(CoveredStream, StreamTranscript)>) -> Vec<CommandCoverage> {
    vec![CommandCoverage { name: String::new(), streams: Ok(streams) }]
}

#[test]
fn the_output_that_an_answer_showed_is_marked_in_the_transcript_at_each_size() {
    for size @ (columns, rows) in ALL_SIZES {
        let mut app = opened(reading(), size);
        let effects = press(&mut app, &["v"]);
        let [stream_shown] = asked(&effects).expect("it is read") else { panic!("{effects:?}") };
        assert_eq!(stream_shown.from as usize, printed(0..5).len());
        assert_eq!(stream_shown.to, Some(printed(0..85).len() as u64));
        let transcript =
            StreamTranscript { all: printed(0..100), before: printed(0..5), until: Some(printed(0..85)) };
        let _ = app.update(Msg::Coverage(310, told(vec![(stream_shown.clone(), transcript)])));
        if SIZES.contains(&size) {
            insta::assert_snapshot!(format!("seen_{columns}x{rows}"), shown(&app));
        }
        let screen = shown(&app);
        assert!(screen.contains("│ test parser::tests::case_005"), "{screen}");
        assert!(screen.contains("  test parser::tests::case_004"), "{screen}");
        let _ = press(&mut app, &["]"]);
        let screen = shown(&app);
        assert!(screen.contains("│ test parser::tests::case_084"), "{screen}");
        assert!(screen.contains("part 2/2"), "{screen}");
        let _ = press(&mut app, &["G"]);
        assert!(shown(&app).contains("  test parser::tests::case_099"), "{}", shown(&app));
    }
}

#[test]
fn both_streams_of_a_command_are_shown_apart() {
    let mut app = opened(CallRecord { seq: 310, ..build() }, (120, 40));
    let effects = press(&mut app, &["v"]);
    let [stdout, stderr] = asked(&effects).expect("it is read") else { panic!("{effects:?}") };
    assert_eq!((stdout.stream, stderr.stream), (OutputStream::Stdout, OutputStream::Stderr));
    let streams = [stdout, stderr].map(|stream_shown| {
        let all = stream_shown.sent.clone().unwrap_or_default();
        (stream_shown.clone(), StreamTranscript { all, ..StreamTranscript::default() })
    });
    let _ = app.update(Msg::Coverage(310, told(streams.to_vec())));
    let screen = shown(&app);
    assert!(screen.contains("44 of 44 lines seen"), "{screen}");
    let _ = press(&mut app, &["G"]);
    assert!(shown(&app).contains("│ error: could not compile"), "{}", shown(&app));
}

#[test]
fn output_sent_in_another_form_is_not_marked() {
    let mut app = opened(reading(), (120, 40));
    let effects = press(&mut app, &["v"]);
    let stream_shown = asked(&effects).expect("it is read")[0].clone();
    let other = StreamTranscript { all: "{\"tests\": 100}\n".into(), ..StreamTranscript::default() };
    let _ = app.update(Msg::Coverage(310, told(vec![(stream_shown, other)])));
    assert!(shown(&app).contains("it was sent in another form"), "{}", shown(&app));
    assert!(shown(&app).contains("  {\"tests\": 100}"), "{}", shown(&app));
}

#[test]
fn a_screen_is_no_part_of_the_transcript_and_other_answers_show_none() {
    let mut screen = reading();
    screen.envelope.as_mut().expect("answered")["result"]["task"]["view"] = json!("screen");
    let mut app = opened(screen, (120, 40));
    assert!(asked(&press(&mut app, &["v"])).is_none());
    assert!(shown(&app).contains("it was shown the screen, not the transcript"), "{}", shown(&app));
    let mut app = opened(CallRecord { seq: 310, ..crate::console_fixture::refusal() }, (120, 40));
    assert!(asked(&press(&mut app, &["v"])).is_none());
    let unanswered = CallRecord { envelope: None, ..reading() };
    let app = opened(unanswered, (120, 40));
    assert_eq!(obstacle(&app, Action::ModelSaw).as_deref(), Some("there is no answer about a task here"));
}

#[test]
fn a_late_transcript_does_not_open_after_the_person_has_moved_on() {
    let mut app = opened(reading(), (120, 40));
    let effects = press(&mut app, &["v", "1"]);
    let stream_shown = asked(&effects).expect("it is read")[0].clone();
    let _ = app.update(Msg::Coverage(310, told(vec![(stream_shown, StreamTranscript::default())])));
    assert!(app.state.reader.is_none());
}
