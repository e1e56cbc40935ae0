//! The program screen, the question dialogs and the queue of what is waiting: what they look like and how they
//! respond to keys.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::keys::keymap::KeyContext;
use pilothouse::console::msg::{Effect, Msg};
use pilothouse::console::state::focus::{Mode, Screen};
use pilothouse::envelope::Actor;
use pilothouse::link::{Act, Request};
use pilothouse::model::{
    AgentPrompt, AlikeAnswers, AnswerValue, BindingView, BranchView, CallCost, CallLikeness, Comment,
    Evidence, HeldCall, LineRange, LoopView, ProgramEvent, ProgramView, Question, QuestionKind,
    QuestionOrigin, RunState, Snapshot, StepState, StepView, Subject,
};
use pilothouse::terminal::Size;
use proptest::prelude::*;

use crate::console_fixture::{
    SIZES, ago, blindly, console, id, now, picture, press, read_through, shown, snapshot,
};
use crate::console_held::{self, call, looked_at, ruled};

const RUN: &str = "20261120-120000-k3f9x2";
const SOURCE: &str = r#"# Ship a release.
input version: "which version?"
let branch = exec "git rev-parse --abbrev-ref HEAD"
parallel (on-fail: "continue"):
  tests = exec "cargo test --workspace"
  lint = exec "cargo clippy --all-targets -- -D warnings"
loop until **the changelog reads well** (max: 5):
  session "improve the changelog"
if **the tests pass**:
  exec "git tag v{version}"
else:
  throw "not now"
gate deploy:
  prompt: "Deploy {version} from {branch} to production?"
  timeout: "30m"
exec "./deploy {version}"
  timeout: "5m"
"#;

fn step(first: u32, last: u32, state: StepState, task: Option<u32>) -> StepView {
    let task = task.map(id);
    StepView { lines: LineRange { first, last }, state, exit_code: None, task }
}

pub(crate) fn event(line: u32, state: StepState, exit_code: Option<i32>) -> ProgramEvent {
    ProgramEvent::Step { line, state, exit_code }
}

fn binding(name: &str, preview: &str, exit_code: Option<i32>) -> BindingView {
    BindingView {
        name: name.into(),
        kind: "let".into(),
        preview: preview.into(),
        chars: preview.chars().count(),
        exit_code,
        stderr: exit_code.filter(|code| *code != 0).map(|_| "error: 1 test failed".into()),
        file: Some(format!("/w/.prose/runs/r/bindings/{name}.md").into()),
        ..BindingView::default()
    }
}

/// A program in the middle of its parallel block; task 6 belongs to it.
pub(crate) fn program() -> ProgramView {
    let branch = |letter: &str, name: &str, line, state, task: Option<u32>| BranchView {
        letter: letter.into(),
        name: Some(name.into()),
        lines: LineRange::one(line),
        state,
        task: task.map(id),
    };
    ProgramView {
        sessions: 0,
        cost: 0,
        run: RUN.into(),
        call: None,
        started_by: Actor::Operator,
        path: "/w/release.prose".into(),
        source: SOURCE.into(),
        folder: format!("/w/.prose/runs/{RUN}").into(),
        state: RunState::Running,
        steps: vec![
            step(2, 2, StepState::Done, None),
            step(3, 3, StepState::Done, Some(3)),
            step(4, 6, StepState::Running, None),
            step(5, 5, StepState::Running, Some(6)),
            step(6, 6, StepState::Failed, Some(4)),
        ],
        events: vec![
            event(2, StepState::Running, None),
            event(2, StepState::Done, None),
            event(3, StepState::Running, None),
            event(3, StepState::Done, None),
            event(4, StepState::Running, None),
            event(5, StepState::Running, None),
            event(6, StepState::Running, None),
            event(6, StepState::Failed, None),
        ],
        earlier_events: 0,
        branches: vec![
            branch("a", "tests", 5, StepState::Running, Some(6)),
            branch("b", "lint", 6, StepState::Failed, Some(4)),
        ],
        loops: Vec::new(),
        bindings: vec![
            binding("version", "1.2.3", None),
            binding("branch", "main\n", Some(0)),
            binding("lint", "warning: unused variable `x`\n --> src/lib.rs:7:9\n", Some(101)),
        ],
        error: None,
        started_at: ago(95),
        ended_at: None,
    }
}

/// The same program at its gate.
pub(crate) fn at_gate() -> ProgramView {
    let mut program = program();
    program.state = RunState::Asking;
    program.steps = vec![
        step(2, 2, StepState::Done, None),
        step(3, 3, StepState::Done, Some(3)),
        step(4, 6, StepState::Done, None),
        step(5, 5, StepState::Done, Some(6)),
        step(6, 6, StepState::Failed, Some(4)),
        step(7, 8, StepState::Done, None),
        step(9, 12, StepState::Skipped, None),
        step(13, 15, StepState::Asking, None),
    ];
    program.events.extend([
        event(5, StepState::Done, None),
        event(4, StepState::Done, None),
        event(7, StepState::Running, None),
        event(7, StepState::Done, None),
        event(9, StepState::Skipped, None),
    ]);
    program.branches = Vec::new();
    program.loops = vec![LoopView { lines: LineRange { first: 7, last: 8 }, pass: 2, max: Some(5) }];
    program
}

fn question(number: u32, kind: QuestionKind, name: Option<&str>, text: &str) -> Question {
    Question {
        expected: None,
        place: None,
        id: format!("question_0000000{number}").parse().expect("an id"),
        number,
        origin: QuestionOrigin {
            run: Some(RUN.into()),
            program: Some("/w/release.prose".into()),
            lines: Some(LineRange { first: 13, last: 15 }),
            name: name.map(str::to_owned),
            ..QuestionOrigin::default()
        },
        asked_by: Actor::Operator,
        agents: false,
        kind,
        text: text.into(),
        evidence: Evidence::default(),
        asked_at: ago(30),
        deadline: None,
        comments: Vec::new(),
    }
}

pub(crate) fn gate() -> Question {
    let mut gate = question(
        3,
        QuestionKind::Gate { allow: vec!["user".into()] },
        Some("deploy"),
        "Deploy 1.2.3 from main to production?\n\nThe migration runs first and cannot be undone.",
    );
    gate.deadline = Some(now() + SignedDuration::from_secs(1_751));
    gate.evidence.bindings = vec![binding("tests", "212 passed", Some(0))];
    gate.comments = vec![Comment {
        by: Actor::Agent("claude".into()),
        at: ago(12),
        text: "staging has been green for an hour".into(),
    }];
    gate
}

pub(crate) fn yes_no() -> Question {
    let kind = QuestionKind::YesNo { yes: "goes on after the loop".into(), no: "runs the body again".into() };
    let mut asked = question(4, kind, None, "the changelog reads well");
    asked.evidence.pass = Some((2, Some(5)));
    asked.evidence.bindings = vec![
        binding("changelog", "- faster start\n- a gate\n- three fixes\n", None),
        binding("lint", "warning: unused variable `x`", Some(101)),
    ];
    asked
}

pub(crate) fn choice() -> Question {
    let labels = ["ship it", "ship it dark, behind the flag", "wait for monday"];
    let kind = QuestionKind::Choice { labels: labels.map(str::to_owned).into() };
    question(5, kind, None, "how daring we are today")
}

pub(crate) fn text(masked: bool) -> Question {
    question(6, QuestionKind::Text { masked }, Some("version"), "which version?")
}

fn with(program: ProgramView, questions: Vec<Question>) -> Snapshot {
    let mut snapshot = snapshot();
    snapshot.programs = vec![Arc::new(program)];
    snapshot.questions = questions.into_iter().map(Arc::new).collect();
    snapshot
}

/// States with open questions: a gate and a yes/no question; a choice and text questions; hostile texts.
pub(crate) fn asking(number: u8) -> Snapshot {
    match number {
        0 => with(at_gate(), vec![gate(), yes_no()]),
        1 => with(program(), vec![choice(), text(true)]),
        _ => {
            let hostile = "x\u{202e}\u{1b}]52;c;x\u{7}\n".repeat(60);
            let mut gate = gate();
            gate.text = hostile.clone();
            gate.origin.name = Some(hostile.clone());
            gate.comments[0].text = hostile.clone();
            gate.evidence.bindings = vec![binding(&hostile, &hostile, Some(-1))];
            let source: Arc<str> = hostile.as_str().into();
            let path = format!("/w/{hostile}").into();
            with(ProgramView { source, path, run: RUN.into(), ..at_gate() }, vec![gate])
        }
    }
}

fn opened(questions: Vec<Question>, size: (u16, u16)) -> App {
    let mut app = console(with(at_gate(), questions), size);
    let _ = press(&mut app, &["5"]);
    app
}

/// The frame has been drawn, and the person has had time to read it.
fn read(app: &mut App) {
    app.mark_drawn();
    let later = app.state.clock.now + SignedDuration::from_secs(1);
    let _ = app.update(Msg::Tick(later));
}

pub(crate) fn in_dialog(question: Question, size: (u16, u16)) -> App {
    let mut app = opened(vec![question], size);
    let _ = press(&mut app, &["Enter"]);
    read(&mut app);
    app
}

fn answers(effects: &[Effect]) -> Vec<(String, AnswerValue, Option<String>)> {
    let answer = |effect: &Effect| match effect {
        Effect::Ask(Request { subject: Subject::Question(question), act: Act::Answer { given, .. } }) => {
            Some((question.to_string(), given.value.clone(), given.note.clone()))
        }
        _ => None,
    };
    effects.iter().filter_map(answer).collect()
}

#[test]
fn the_program_screen_matches_its_snapshots_at_each_size() {
    for size @ (columns, rows) in SIZES {
        let mut app = console(with(program(), Vec::new()), size);
        let _ = press(&mut app, &["5"]);
        insta::assert_snapshot!(format!("program_{columns}x{rows}"), shown(&app));
        insta::assert_snapshot!(format!("program_gate_{columns}x{rows}"), shown(&opened(vec![gate()], size)));
    }
    let mut app = console(snapshot(), (80, 24));
    let _ = press(&mut app, &["5"]);
    insta::assert_snapshot!("program_none_80x24", shown(&app));
}

#[test]
fn the_question_dialogs_match_their_snapshots() {
    for size @ (columns, rows) in SIZES {
        for (name, question) in [("gate", gate()), ("yes_no", yes_no())] {
            insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), shown(&in_dialog(question, size)));
        }
    }
    let mut app = in_dialog(choice(), (80, 24));
    let _ = press(&mut app, &["j", "j"]);
    insta::assert_snapshot!("choice_80x24", shown(&app));
    let mut app = in_dialog(text(true), (80, 24));
    let _ = press(&mut app, &["h", "u", "n", "t", "e", "r"]);
    insta::assert_snapshot!("secret_80x24", shown(&app));
    insta::assert_snapshot!("in_flight_80x24", shown(&in_dialog(in_flight(), (80, 24))));
    insta::assert_snapshot!("command_80x24", shown(&in_dialog(command(), (80, 24))));
}

/// A prompt of an agent.
fn prompt() -> Question {
    let kind = QuestionKind::AgentPrompt(AgentPrompt {
        session: "5e1f8a9c-77".into(),
        alike: CallLikeness { hash: "a".into(), words: None },
        before: AlikeAnswers { allowed: 3, refused: 1 },
        ..AgentPrompt::default()
    });
    let evidence = Evidence { workdir: Some("/srv/app".into()), ..Evidence::default() };
    let text = "npm publish --tag next\n\ndescription: Publish the package";
    let asked_by = Actor::Agent("claude-code".into());
    let origin = QuestionOrigin { name: Some("Bash".into()), ..QuestionOrigin::default() };
    Question { evidence, asked_by, origin, ..question(9, kind, None, text) }
}

/// The dialog of a prompt, on screen long enough to be answered.
fn prompted() -> App {
    let mut app = opened(vec![prompt()], (80, 24));
    let _ = press(&mut app, &["a", "j", "Enter"]);
    read(&mut app);
    app
}

#[test]
fn an_agents_prompt_says_whose_it_is_and_a_refusal_is_sent_with_its_words() {
    insta::assert_snapshot!("prompt_80x24", shown(&prompted()));
    let mut app = prompted();
    let id = || prompt().id.to_string();
    assert_eq!(answers(&press(&mut app, &["n", "n", "o"])), [], "the words come first");
    insta::assert_snapshot!("prompt_refused_80x24", shown(&app));
    let refused = [(id(), AnswerValue::Reject, Some("no".to_owned()))];
    assert_eq!(answers(&press(&mut app, &["Enter"])), refused);
    let mut app = prompted();
    assert_eq!(answers(&press(&mut app, &["n", "Esc", "y"])), [(id(), AnswerValue::Approve, None)]);
    for (key, value) in [("t", AnswerValue::ApproveTurn), ("l", AnswerValue::ApproveAlike)] {
        let mut app = prompted();
        assert_eq!(answers(&press(&mut app, &[key])), [(id(), value, None)]);
    }
    let mut app = prompted();
    let gone = Snapshot { in_agents: vec![prompt().id], ..with(at_gate(), Vec::new()) };
    let _ = app.update(Msg::Snapshot(Arc::new(gone)));
    assert!(shown(&app).contains("It was answered in the agent."), "{}", shown(&app));
    assert_eq!(answers(&press(&mut app, &["y", "n", "Enter"])), []);
    let mut app = opened(vec![gate(), prompt()], (80, 24));
    let _ = press(&mut app, &["a"]);
    insta::assert_snapshot!("attention_prompt_80x24", shown(&app));
}

/// Ways to put the end of a command below the card, or out of sight.
fn far_ends() -> Vec<(&'static str, String)> {
    let far = |what: &str| format!("ls {what} ; rm -rf the-end");
    vec![
        ("line breaks", format!("ls{}rm -rf the-end", "\n".repeat(80))),
        ("lines", format!("{}rm -rf the-end", "ls -la\n".repeat(80))),
        ("blanks", far(&" ".repeat(2_500))),
        ("tabs", far(&"\t".repeat(2_500))),
        ("a comment", format!("# {}\nrm -rf the-end", "all is well. ".repeat(300))),
        ("fillers", far(&"\u{3164}".repeat(500))),
        ("blank signs", far(&"\u{2800}".repeat(2_500))),
        ("joiners", far(&"\u{200b}\u{2060}".repeat(300))),
        ("wide blanks", far(&"\u{3000}".repeat(2_500))),
    ]
}

#[test]
fn no_key_approves_a_text_whose_end_was_not_on_screen() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        for (how, cmd) in far_ends() {
            let text = format!("{cmd}\n\ndescription: List files");
            let in_doubt = Evidence { command: Some(cmd.clone()), ..Evidence::default() };
            let agents = || Question { text: text.clone(), ..prompt() };
            let mut asked = vec![(agents(), "y")];
            if size == (80, 24) {
                asked.extend([(agents(), "t"), (agents(), "l")]);
                asked.push((Question { text: cmd.clone(), ..command() }, "y"));
                asked.push((Question { text: cmd.clone(), ..gate() }, "y"));
                asked.push((Question { evidence: in_doubt, ..in_flight() }, "r"));
            }
            for (question, key) in asked {
                let mut app = opened(vec![question], size);
                let _ = press(&mut app, &["a", "j", "Enter"]);
                read(&mut app);
                for _ in 0..300 {
                    let is_seen = shown(&app).contains("the-end");
                    let answers = answers(&press(&mut app.clone(), &[key]));
                    assert!(is_seen || answers.is_empty(), "{how} {key} {size:?}\n{}", shown(&app));
                    if !answers.is_empty() {
                        break;
                    }
                    assert!(shown(&app).contains(" more row"), "{how} {key} {size:?}\n{}", shown(&app));
                    let _ = press(&mut app, &["Space"]);
                }
                assert_eq!(
                    answers(&press(&mut app, &[key])).len(),
                    1,
                    "{how} {key} {size:?}\n{}",
                    shown(&app)
                );
            }
        }
    }
}

#[test]
fn an_approval_counts_only_after_a_frame_has_shown_the_end_and_a_refusal_at_once() {
    let (_, cmd) = far_ends().remove(1);
    let mut app = opened(vec![Question { text: cmd, ..prompt() }], (80, 24));
    let _ = press(&mut app, &["a", "j", "Enter"]);
    read(&mut app);
    let mut blind = app.clone();
    let effects = ["G", "y", "t", "l"].map(|key| blindly(&mut blind, key)).concat();
    assert_eq!(answers(&effects), [], "no frame has shown the end");
    assert_eq!(answers(&press(&mut app, &["n", "n", "o", "Enter"])).len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever a command says, no row of it looks like a fact of the card.
    #[test]
    fn no_row_of_a_command_looks_like_a_fact_of_the_card(
        parts in prop::collection::vec(lie(), 1..12),
        size in prop_oneof![Just((80, 24)), Just((120, 40)), Just((60, 20))],
    ) {
        let cmd = parts.concat();
        let (agents, held) = (prompt(), ruled());
        let QuestionKind::AgentPrompt(mut kind) = agents.kind.clone() else { unreachable!("an agent's") };
        let cost = CallCost {
            revision: 1,
            commands: vec![vec!["no cost computed".into()]],
            ..CallCost::default()
        };
        kind.cost = cost.clone();
        let question = Question { text: cmd.clone(), kind: QuestionKind::AgentPrompt(kind), ..agents };
        let mut app = opened(vec![question], size);
        let _ = press(&mut app, &["a", "j", "Enter"]);
        let facts = |rows: Vec<String>| {
            let starts = ["in /", "no cost", "alike:", "like it:", "held by", "since ", "1  no cost", "2  no cost"];
            let is_fact = |row: &String| starts.iter().any(|start| row.starts_with(start));
            rows.into_iter().filter(is_fact).collect::<Vec<_>>()
        };
        let expected = [
            "in /srv/app",
            "no cost computed",
            "like it: allowed 3 times, refused once in this session",
            "alike: exactly this call, in this directory",
        ];
        prop_assert_eq!(facts(read_through(&mut app)), expected);

        let call = HeldCall { cost, ..call(1, &[&cmd], held.clone()) };
        let mut app = looked_at(vec![call], size);
        let expected = [
            "held by the rule: prefix \"git push\"",
            "since 12:04:19   call 312   request 111111111111",
            "in /home/ana/demo-repo",
            "no cost computed",
        ];
        prop_assert_eq!(facts(read_through(&mut app)), expected);

        let commands = vec![vec!["no cost computed".into()]; 2];
        let cost = CallCost { revision: 1, commands, ..CallCost::default() };
        let call = HeldCall { cost, ..console_held::call(1, &[&cmd, "ls"], held) };
        let mut app = looked_at(vec![call], size);
        let rows = facts(read_through(&mut app));
        prop_assert_eq!(&rows[2..3], &["in /home/ana/demo-repo   /bin/bash, login shell"]);
        prop_assert_eq!(&rows[3..], &["1  no cost computed", "2  no cost computed"]);
    }
}

/// A part of a command that is made to look like a fact.
fn lie() -> impl Strategy<Value = String> {
    let facts = [
        "in /elsewhere",
        "no cost at all",
        "alike: nothing",
        "like it: never",
        "held by nobody",
        "since ever",
        "2  no cost at all",
        "│ ",
    ];
    prop_oneof![
        3 => prop::sample::select(facts.to_vec()).prop_map(str::to_owned),
        2 => Just("\n".to_owned()),
        1 => (1_usize..130).prop_map(|many| " ".repeat(many)),
        1 => (1_usize..130).prop_map(|many| "\u{2800}".repeat(many)),
        1 => Just("\t".to_owned()),
        2 => (1_usize..130).prop_map(|many| "x".repeat(many)),
    ]
}

pub(crate) fn in_flight() -> Question {
    let evidence = Evidence { command: Some("./deploy 1.2.3".into()), ..Evidence::default() };
    let text = "This command had started; nobody saw it end.";
    Question { evidence, ..question(7, QuestionKind::InFlight, None, text) }
}

pub(crate) fn command() -> Question {
    let evidence = Evidence { workdir: Some("/srv/app".into()), ..Evidence::default() };
    let long = format!("TOKEN=hunter2 rsync -a build/ web:/srv/app/ && echo {} end", "very ".repeat(30));
    Question { evidence, ..question(8, QuestionKind::Command, None, &long) }
}

#[test]
fn all_waiting_items_are_in_one_list() {
    for size @ (columns, rows) in SIZES {
        let mut app = console(with(at_gate(), vec![gate(), yes_no()]), size);
        let _ = press(&mut app, &["a"]);
        insta::assert_snapshot!(format!("attention_{columns}x{rows}"), shown(&app));
    }
}

#[test]
fn a_key_typed_before_the_question_was_seen_decides_nothing() {
    let mut app = opened(vec![gate()], (80, 24));
    assert_eq!(answers(&press(&mut app, &["Enter", "y"])), [], "before the first frame");
    app.mark_drawn();
    assert_eq!(answers(&press(&mut app, &["y"])), [], "at its moment");
    let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_millis(399)));
    assert_eq!(answers(&press(&mut app, &["y", "n"])), [], "too soon after it");
    let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_millis(1)));
    let expected = [("question_00000003".to_owned(), AnswerValue::Approve, None)];
    assert_eq!(answers(&press(&mut app, &["y"])), expected);
    assert_eq!(answers(&press(&mut app, &["y", "n"])), [], "once");
}

#[test]
fn only_the_deliberate_key_approves_and_escape_is_safe() {
    for keys in [&["a"][..], &["Enter"], &["Space"], &["Y"], &["Esc"], &["q"]] {
        let mut app = in_dialog(gate(), (80, 24));
        assert_eq!(answers(&press(&mut app, keys)), [], "{keys:?}");
    }
    let mut app = in_dialog(gate(), (80, 24));
    let _ = press(&mut app, &["Esc"]);
    assert!(app.layers.is_empty() && app.state.focus.screen == Screen::Program);
    let mut app = in_dialog(gate(), (80, 24));
    let effects = press(&mut app, &["c", "n", "o", "t", "Space", "a", "Enter", "n"]);
    let expected = ("question_00000003".to_owned(), AnswerValue::Reject, Some("not a".to_owned()));
    assert_eq!(answers(&effects), [expected]);
}

#[test]
fn each_kind_is_answered_by_its_keys() {
    let table: [(Question, &[&str], AnswerValue); 7] = [
        (yes_no(), &["y"], AnswerValue::Yes),
        (yes_no(), &["n"], AnswerValue::No),
        (
            choice(),
            &["Enter", "j", "j", "Enter"],
            AnswerValue::Choice("ship it dark, behind the flag".into()),
        ),
        (text(false), &["1", ".", "q", "Enter"], AnswerValue::Text("1.q".into())),
        (question(7, QuestionKind::InFlight, None, "?"), &[">"], AnswerValue::Skip),
        (command(), &["y"], AnswerValue::Approve),
        (command(), &["n"], AnswerValue::Reject),
    ];
    for (question, keys, value) in table {
        let mut app = in_dialog(question, (80, 24));
        let values: Vec<AnswerValue> =
            answers(&press(&mut app, keys)).into_iter().map(|answer| answer.1).collect();
        assert_eq!(values, [value], "{keys:?}");
    }
}

#[test]
fn a_question_settled_elsewhere_keeps_the_keys_from_the_screen_below() {
    let mut app = in_dialog(gate(), (80, 24));
    let _ = app.update(Msg::Snapshot(Arc::new(with(at_gate(), Vec::new()))));
    assert_eq!(press(&mut app, &["y", "n", "s"]).len(), 0, "no key reaches anything");
    assert!(shown(&app).contains("no longer open"));
    let _ = press(&mut app, &["Esc"]);
    assert!(app.layers.is_empty());
}

#[test]
fn a_long_gate_is_shown_whole_by_scrolling() {
    let lines: Vec<String> = (1..=90).map(|line| format!("change number {line:02}")).collect();
    let mut long = gate();
    long.text = lines.join("\n");
    let mut app = in_dialog(long, (80, 24));
    let mut seen = shown(&app);
    for _ in 0..12 {
        let _ = press(&mut app, &["PageDown"]);
        seen.push_str(&shown(&app));
    }
    assert!(lines.iter().all(|line| seen.contains(line.as_str())), "every line was on screen");
}

#[test]
fn an_answer_refused_leaves_the_dialog_and_one_taken_closes_it() {
    let mut app = in_dialog(gate(), (80, 24));
    let _ = press(&mut app, &["y"]);
    let asked = gate().id;
    let _ = app.update(Msg::AnswerTaken(asked.clone(), Some("the record cannot be written".into())));
    assert!(matches!(app.layers.last(), Some(Layer::Question(_))));
    assert_eq!(answers(&press(&mut app, &["n"])).len(), 1, "it can be answered again");
    let _ = app.update(Msg::AnswerTaken(asked, None));
    assert!(app.layers.is_empty());
}

#[test]
fn the_attention_list_leads_to_the_selected_question() {
    let mut app = console(with(at_gate(), vec![gate()]), (120, 40));
    let _ = press(&mut app, &["a"]);
    let _ = press(&mut app, &["j", "Enter"]);
    let asked = matches!(app.layers.last(), Some(Layer::Question(dialog)) if dialog.question.number == 3);
    assert!(asked, "{}", shown(&app));
}

#[test]
fn the_bell_rings_once_and_only_while_the_console_has_no_focus() {
    let rings =
        |effects: &[Effect]| effects.iter().filter(|effect| matches!(effect, Effect::Ring(_))).count();
    let news = |questions| Msg::Snapshot(Arc::new(with(at_gate(), questions)));
    let mut app = console(with(at_gate(), Vec::new()), (80, 24));
    let _ = app.update(news(Vec::new()));
    assert_eq!(rings(&app.update(news(vec![yes_no()]))), 0, "the person looks");
    let _ = app.update(Msg::Focus(false));
    assert_eq!(rings(&app.update(news(vec![yes_no()]))), 0, "seen before");
    assert_eq!(rings(&app.update(news(vec![yes_no(), gate()]))), 1, "new");
    assert_eq!(rings(&app.update(news(vec![gate()]))), 0, "once");
    let _ = app.update(news(Vec::new()));
    assert_eq!(rings(&app.update(news(vec![gate()]))), 1, "settled and asked again is new");
}

#[test]
fn the_source_follows_the_program_until_the_person_scrolls() {
    let mut app = opened(vec![gate()], (80, 24));
    assert!(shown(&app).contains("gate deploy:"), "{}", shown(&app));
    let _ = press(&mut app, &["g"]);
    assert!(shown(&app).contains("# Ship a release."), "{}", shown(&app));
    assert!(!shown(&app).contains("follow"));
    let _ = press(&mut app, &["G"]);
    assert!(shown(&app).contains("gate deploy:"), "{}", shown(&app));
}

/// Task 6 of the program has a screen of 120 columns: one row of letters, and one that ends at the right edge.
fn with_wide_pane(size: (u16, u16)) -> App {
    let mut app = console(with(program(), Vec::new()), size);
    let _ = press(&mut app, &["5"]);
    let written = format!("{}\r\nend{:>117}", "abcdefghij".repeat(12), "right");
    let _ = app.update(Msg::Picture(id(6), picture(Size::nearest(120, 24), &written)));
    app
}

#[test]
fn tab_leads_from_the_source_to_the_pane_and_back() {
    let mut app = with_wide_pane((80, 24));
    let at = |app: &App| (app.state.programs.in_pane, app.context());
    // The notice is dismissed first.
    let _ = press(&mut app, &["Esc"]);
    assert_eq!(at(&app), (false, KeyContext::Program));
    let _ = press(&mut app, &["Tab"]);
    assert_eq!(at(&app), (true, KeyContext::Program));
    assert!(shown(&app).contains("▸ ● t06"), "{}", shown(&app));
    let asks_for = |effects: &[Effect]| {
        effects.iter().any(|effect| matches!(effect, Effect::Page { task, .. } if *task == id(6)))
    };
    assert!(asks_for(&press(&mut app, &["k"])), "the pane scrolls back");
    let _ = press(&mut app, &["Esc"]);
    assert!(app.state.reading.scroll.is_none() && app.state.programs.in_pane, "the pane follows again first");
    let _ = press(&mut app, &["Esc"]);
    assert_eq!((at(&app).0, app.state.focus.screen), (false, Screen::Program));
    let _ = press(&mut app, &["Tab", "Tab"]);
    assert!(!asks_for(&press(&mut app, &["k"])) && app.state.programs.top.is_some(), "the source scrolls");
}

#[test]
fn text_wider_than_its_room_is_panned() {
    let mut app = with_wide_pane((80, 24));
    let _ = press(&mut app, &["g", "L"]);
    assert_eq!((app.state.programs.pan, app.state.reading.pan), (0, 0), "the source fits");
    let long = format!("{SOURCE}exec \"{}the end\"\n", "x".repeat(80));
    let mut wide = program();
    wide.source = long.as_str().into();
    let _ = app.update(Msg::Snapshot(Arc::new(with(wide, Vec::new()))));
    let _ = press(&mut app, &["PageDown", "PageDown", "PageDown"]);
    assert!(!shown(&app).contains("the end\""), "{}", shown(&app));
    let _ = press(&mut app, &["L", "L", "L", "L", "L", "L"]);
    let screen = shown(&app);
    assert!(screen.contains("18 ‹") && screen.contains("the end\""), "{screen}");
    assert!(!screen.contains("right"), "the pane stays: {screen}");
    let _ = press(&mut app, &["Tab", "L", "L", "L"]);
    assert!(shown(&app).contains("right"), "{}", shown(&app));
    let _ = press(&mut app, &["H", "H", "H"]);
    assert!(shown(&app).contains("end  ") && app.state.reading.pan == 0, "{}", shown(&app));
}

#[test]
fn the_command_of_a_program_is_typed_into_where_it_stands() {
    let mut app = with_wide_pane((120, 40));
    let _ = press(&mut app, &["I"]);
    assert!(
        matches!(&app.state.focus.mode, Mode::Input(task) if *task == id(6)),
        "{:?}",
        app.state.focus.mode
    );
    assert_eq!(app.state.focus.screen, Screen::Program, "the source stays in sight");
    let sent = press(&mut app, &["x"]);
    assert!(
        matches!(&sent[..], [Effect::Ask(Request { subject: Subject::Task(task), act: Act::Send(_) })] if *task == id(6)),
        "{sent:?}"
    );
    // The next command starts: the task that has the focus stays.
    let mut next = program();
    next.steps[3].state = StepState::Done;
    next.branches.clear();
    next.steps.push(step(16, 17, StepState::Running, Some(3)));
    let _ = app.update(Msg::Snapshot(Arc::new(with(next, Vec::new()))));
    assert_eq!(app.state.program_task(), Some(id(6)));
    let _ = press(&mut app, &["C-]"]);
    assert_eq!(app.state.program_task(), Some(id(3)));
    // This task takes no input, and the console says so.
    let _ = press(&mut app, &["i"]);
    assert!(
        matches!(app.state.focus.mode, Mode::Observe) && shown(&app).contains("the task takes no input"),
        "{}",
        shown(&app)
    );
}

#[test]
fn zoom_shows_only_the_part_that_the_keys_move() {
    let mut app = with_wide_pane((120, 40));
    let _ = press(&mut app, &["z"]);
    assert!(
        app.state.layout().panes.is_empty() && shown(&app).contains("# Ship a release."),
        "{}",
        shown(&app)
    );
    let _ = press(&mut app, &["Tab"]);
    assert!(app.state.layout().source.is_empty() && shown(&app).contains("abcdefghij"), "{}", shown(&app));
    let mut small = with_wide_pane((50, 10));
    let _ = press(&mut small, &["Tab"]);
    assert!(shown(&small).contains("abcdefghij"), "{}", shown(&small));
}

#[test]
fn quitting_asks_while_a_program_waits_that_would_end() {
    let waiting = || Snapshot { tasks: Vec::new(), agents: Vec::new(), ..with(at_gate(), vec![gate()]) };
    for (is_remote, shows_run, asks) in [(false, false, true), (true, true, true), (true, false, false)] {
        let mut app = console(waiting(), (80, 24));
        (app.state.setup.is_remote, app.state.setup.shows_run) = (is_remote, shows_run);
        let effects = press(&mut app, &["q"]);
        assert_eq!(matches!(app.layers.last(), Some(Layer::Quit)), asks, "{is_remote} {shows_run}");
        assert_eq!(effects.is_empty(), asks);
        if asks {
            assert!(shown(&app).contains("release.prose  waits for an answer"), "{}", shown(&app));
            let way = if is_remote { "d" } else { "s" };
            assert!(matches!(press(&mut app, &[way])[..], [Effect::Quit(_)]), "{}", shown(&app));
        }
    }
    let mut over = at_gate();
    over.state = RunState::Completed;
    let mut app = console(Snapshot { tasks: Vec::new(), agents: Vec::new(), ..with(over, vec![]) }, (80, 24));
    app.state.setup.is_remote = false;
    assert!(matches!(press(&mut app, &["q"])[..], [Effect::Quit(_)]));
}
