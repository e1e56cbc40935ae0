//! The plain-line console: what is said about two successive states, what a line means, when an answer counts.

use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pilothouse::console::msg::{self, Leave, Msg};
use pilothouse::console::plain::{
    Circumstances, EnteredLine, OutputReading, PlainEffect, PlainEvent, PlainSession, Purpose, events,
};
use pilothouse::envelope::Actor;
use pilothouse::link::{Act, Request};
use pilothouse::model::{
    AgentView, AnswerValue, CallRecord, CallSummary, Decision, GateView, HeldCall, HoldReason, InputEvidence,
    InputNeed, InputWait, LineRange, LoopView, PlaceId, PlaceLink, PlaceState, ProgramEvent, ProgramView,
    Question, QuestionKind, RunState, Slot, Snapshot, StepState, Subject, TaskEvent, TaskFact, TaskStatus,
    TaskView,
};

use crate::console_fixture::{ago, empty, ended, id, now, record, snapshot, task};
use crate::console_fleet::{fleet, lost, name, place};
use crate::console_held::call;
use crate::console_program::{at_gate, event, gate, program, text};

fn with(tasks: Vec<TaskView>) -> Snapshot {
    Snapshot { tasks: tasks.into_iter().map(Arc::new).collect(), ..empty() }
}

/// The same with the events that a runtime notes of what its tasks show.
fn noted(snapshot: &Snapshot) -> Snapshot {
    let mut snapshot = snapshot.clone();
    for task in snapshot.tasks.iter_mut().map(Arc::make_mut) {
        let stop = task.stop.clone().filter(|_| task.status == TaskStatus::Cancelling).map(|stop| {
            (stop.by, TaskFact::Stop { force: stop.force, why: stop.why, kill_at: stop.kill_at })
        });
        let by_itself = |fact| (Actor::System, fact);
        let waiting = task.waiting.clone().map(TaskFact::Waiting).map(by_itself);
        let (status, survivors) = (task.status, Vec::new());
        let end = task.ended.as_ref().map(|_| TaskFact::End {
            status,
            ran_ms: None,
            error: None,
            survivors,
            peak_memory: None,
        });
        let facts = waiting.into_iter().chain(stop).chain(end.map(by_itself));
        task.events.extend(facts.map(|(actor, fact)| TaskEvent { at: ago(0), actor, fact }));
    }
    snapshot
}

fn said(before: &Snapshot, after: &Snapshot) -> String {
    events(&noted(before), &noted(after)).iter().map(|line| format!("{line}\n")).collect()
}

/// A session, the time, and the effects of its last event.
struct Heart {
    talk: PlainSession,
    now: Timestamp,
    acts: Vec<PlainEffect>,
}

impl Heart {
    fn with(snapshot: Snapshot, is_person: bool) -> Self {
        let about = Circumstances {
            because: "--accessible".into(),
            zone: TimeZone::UTC,
            is_remote: false,
            can_detach: false,
            recording: None,
            is_person,
            watch: Vec::new(),
        };
        let (talk, acts) = PlainSession::begin(about, Arc::new(snapshot), now());
        Self { talk, now: now(), acts }
    }

    fn of_a_recording(snapshot: Snapshot) -> Self {
        let mut heart = Self::on(snapshot.clone());
        let about = Circumstances {
            because: "--accessible".into(),
            zone: TimeZone::UTC,
            is_remote: false,
            can_detach: false,
            recording: Some("monday".into()),
            is_person: true,
            watch: Vec::new(),
        };
        (heart.talk, heart.acts) = PlainSession::begin(about, Arc::new(snapshot), now());
        heart
    }

    fn on(snapshot: Snapshot) -> Self {
        Self::with(snapshot, true)
    }

    fn hears(&mut self, heard: PlainEvent) -> String {
        self.acts = self.talk.update(heard, self.now);
        self.talk.mark_printed(self.now);
        self.said()
    }

    /// Writes a line after a delay.
    fn writes(&mut self, line: &str, ms: i64) -> String {
        self.now += SignedDuration::from_millis(ms);
        self.hears(PlainEvent::Entered(EnteredLine::Line(line.into()), self.now))
    }

    fn said(&self) -> String {
        let said = self.acts.iter().filter_map(|act| match act {
            PlainEffect::Say(line) => Some(format!("{line}\n")),
            _ => None,
        });
        said.collect()
    }

    fn does(&self) -> Vec<&msg::Effect> {
        let done = self.acts.iter().filter_map(|act| match act {
            PlainEffect::Do(effect) => Some(effect),
            _ => None,
        });
        done.collect()
    }

    fn leaves(&self) -> bool {
        let leaves = |act: &PlainEffect| {
            matches!(act, PlainEffect::Leave | PlainEffect::Do(msg::Effect::Quit(Leave::Detach)))
        };
        self.acts.iter().any(leaves)
    }
}

fn waits(kind: &str) -> TaskView {
    TaskView {
        tty: true,
        accepts_input: true,
        waiting: Some(InputWait {
            kind: kind.parse().expect("a need"),
            evidence: InputEvidence::TtyRead,
            since: ago(3),
            program: None,
            question: None,
        }),
        ..task(1, "npm init", 9, 3)
    }
}

#[test]
fn a_plain_console_tells_all_events_of_a_day_from_the_beginning() {
    insta::assert_snapshot!("spoken_day", said(&empty(), &snapshot()));
    assert_eq!(said(&snapshot(), &snapshot()), "", "nothing new, nothing said");
}

#[test]
fn a_task_is_told_from_its_start_to_its_end() {
    let running = task(1, "make test", 9, 3);
    let start = said(&empty(), &with(vec![running.clone()]));
    assert_eq!(start, "agent claude: started t01: make test\n");
    let waiting = with(vec![waits("line")]);
    assert_eq!(
        said(&with(vec![running.clone()]), &waiting),
        "system: t01 waiting for input (reading the terminal)\n"
    );
    let quiet = TaskView {
        waiting: Some(InputWait {
            kind: InputNeed::Line,
            evidence: InputEvidence::Quiet,
            since: ago(3),
            program: None,
            question: None,
        }),
        ..running.clone()
    };
    assert_eq!(said(&with(vec![running.clone()]), &with(vec![quiet])), "", "silence alone is no event");
    let over = ended(running.clone(), TaskStatus::Failed, Some(2), 1);
    assert_eq!(
        said(&with(vec![running.clone()]), &with(vec![over.clone()])),
        "system: t01 ended: exit 2 after 8.0 s, 512 lines of output\n"
    );
    let both = said(&empty(), &with(vec![over]));
    assert_eq!(both.lines().count(), 2, "one that came and went is told of all the same: {both}");
}

#[test]
fn input_of_others_is_told_once_although_the_timeline_lost_its_beginning() {
    let event = |fact| TaskEvent { at: ago(1), actor: Actor::Agent("claude".into()), fact };
    let (start, input) = (event(TaskFact::Start { pid: None }), |bytes| event(TaskFact::Input(bytes)));
    let of = |earlier_events, events: Vec<TaskEvent>| {
        with(vec![TaskView { events, earlier_events, ..task(1, "cat", 9, 3) }])
    };
    let before = of(0, vec![start, input(1), input(2)]);
    let after = of(1, vec![input(1), input(2), input(3)]);
    assert_eq!(said(&before, &after), "agent claude: typed into t01, 3 bytes\n");
    // The same was typed again and again.
    let after = of(3, vec![input(2), input(2)]);
    assert_eq!(said(&before, &after).lines().count(), 2);
}

#[test]
fn foreign_text_is_one_line_and_shows_what_it_hides() {
    let evil = task(1, "printf \x1b]0;owned\x07\nrm \u{202e}", 1, 1);
    let line = said(&empty(), &with(vec![evil]));
    assert_eq!(line, "agent claude: started t01: printf ⟨U+001B⟩]0;owned⟨U+0007⟩⏎ rm ⟨U+202E⟩\n");
}

#[test]
fn a_line_goes_to_a_task_and_a_secret_stays_unseen() {
    let mut heart = Heart::on(with(vec![waits("line")]));
    heart.writes("line t01 yes please", 10);
    let [msg::Effect::Ask(Request { act: Act::Call { tool, input, .. }, .. })] = heart.does()[..] else {
        panic!("{:?}", heart.acts)
    };
    assert_eq!(tool, "TaskInput");
    assert_eq!(input["input"], "yes please\r");
    heart.writes("3", 10);
    assert!(heart.said().contains("write the line for t01"));
    heart.writes("  two  words ", 10);
    let [msg::Effect::Ask(Request { act: Act::Call { input, .. }, .. })] = heart.does()[..] else {
        panic!("{:?}", heart.acts)
    };
    assert_eq!(input["input"], "  two  words \r", "to the letter");

    let mut heart = Heart::on(with(vec![waits("secret")]));
    assert!(heart.writes("line t01 hunter2", 10).contains("wants a secret") && heart.does().is_empty());
    heart.writes("line t01", 10);
    assert!(heart.acts.iter().any(|act| matches!(act, PlainEffect::Hide(true))), "{:?}", heart.acts);
    heart.writes("hunter2", 10);
    assert!(
        matches!(heart.does()[..], [msg::Effect::Ask(Request { act: Act::Send(_), .. })]),
        "as raw keys, on no record"
    );
    assert!(matches!(heart.acts[0], PlainEffect::Hide(false)));
}

#[test]
fn a_gate_takes_no_line_that_came_before_it_was_read() {
    let state = Snapshot { questions: vec![Arc::new(gate())], ..empty() };
    let mut heart = Heart::on(state.clone());
    assert!(heart.writes("attention", 10).contains("1 q03 gate deploy: Deploy 1.2.3"));
    let shown = heart.writes("1", 10);
    insta::assert_snapshot!("spoken_gate", shown);
    assert!(heart.writes("approve", 399).contains("too early") && heart.does().is_empty());
    assert!(heart.writes("perhaps", 500).contains("no answer: approve or reject"));
    heart.writes("approve it was green", 10);
    let [msg::Effect::Ask(Request { act: Act::Answer { given, .. }, .. })] = heart.does()[..] else {
        panic!("{:?}", heart.acts)
    };
    assert_eq!((&given.value, given.note.as_deref()), (&AnswerValue::Approve, Some("it was green")));

    let mut heart = Heart::on(state.clone());
    heart.writes("5 q03", 10);
    let over = heart.hears(PlainEvent::News(Arc::new(empty())));
    assert!(over.contains("q03 is settled") && over.contains("back at the menu"), "{over}");
    assert!(heart.writes("approve", 900).contains("not on the menu"));

    let mut pipe = Heart::with(state, false);
    assert!(pipe.writes("5 q03", 10).contains("only a person at a terminal"));
    pipe.writes("approve", 900);
    assert!(pipe.does().is_empty());
}

#[test]
fn a_held_call_is_told_whole_and_answered_for_that_very_request() {
    let rule = HoldReason::Rule("prefix \"git push\"".into());
    let held = call(7, &["git push origin main", "git push --tags"], rule);
    let hash = held.hash.clone();
    let state = Snapshot {
        gate: GateView { paused: None, held: vec![held], allowed: 0, turns: 0, rules: 0 },
        ..empty()
    };
    assert!(
        said(&empty(), &state)
            .contains("agent claude: wants to run: git push origin main and 1 more; call 318 needs approval")
    );
    let mut heart = Heart::on(state.clone());
    heart.writes("5", 10);
    let shown = heart.writes("1", 10);
    assert!(shown.contains("git push --tags") && shown.contains("prefix"), "{shown}");
    assert!(heart.writes("run", 100).contains("too early"));
    heart.writes("run", 400);
    let [
        msg::Effect::Ask(Request {
            subject: Subject::Held(7),
            act: Act::Decide { hash: sent, decision: Decision::Once, .. },
        }),
    ] = heart.does()[..]
    else {
        panic!("{:?}", heart.acts)
    };
    assert_eq!(*sent, hash);
    let mut heart = Heart::on(state);
    heart.writes("5 1", 10);
    heart.writes("deny not on a Friday", 900);
    let [msg::Effect::Ask(Request { act: Act::Decide { decision: Decision::Deny { note }, .. }, .. })] =
        heart.does()[..]
    else {
        panic!()
    };
    assert_eq!(note, "not on a Friday");
}

#[test]
fn a_wider_yes_is_given_for_what_was_told_and_read() {
    let rule = HoldReason::Rule("prefix \"git push\"".into());
    let held = call(7, &["git push origin main"], rule);
    let state = Snapshot {
        gate: GateView { paused: None, held: vec![held], allowed: 0, turns: 0, rules: 0 },
        ..empty()
    };
    let mut heart = Heart::on(state.clone());
    heart.writes("5", 10);
    assert!(heart.writes("1", 10).contains("wider (what begins like it: git push)"));
    assert!(heart.writes("wider yes", 900).contains("write wider first") && heart.does().is_empty());
    let preview = heart.writes("wider", 10);
    insta::assert_snapshot!("spoken_wider", preview);
    assert!(heart.writes("wider yes", 100).contains("too early") && heart.does().is_empty());
    assert!(heart.writes("wider git pull", 300).contains("the command that waits does not begin so"));
    assert!(heart.writes("wider yes", 900).contains("write wider first"), "not for what was told before");
    heart.writes("wider git push origin", 10);
    heart.writes("wider yes", 400);
    let [
        msg::Effect::Ask(Request {
            subject: Subject::Held(7),
            act: Act::Decide { decision: Decision::Prefix(prefix), .. },
        }),
    ] = heart.does()[..]
    else {
        panic!("{:?}", heart.acts)
    };
    assert_eq!(prefix.text(), "git push origin");

    let paused = call(8, &["git push"], HoldReason::Paused);
    let state = Snapshot {
        gate: GateView { paused: None, held: vec![paused], allowed: 0, turns: 0, rules: 0 },
        ..empty()
    };
    let mut heart = Heart::on(state);
    assert!(!heart.writes("5 1", 10).contains("wider"));
    assert!(heart.writes("wider", 900).contains("no answer: run (once) or deny"));
}

#[test]
fn a_text_of_several_lines_ends_with_a_single_dot() {
    let question = Question { kind: QuestionKind::Text { masked: false }, ..gate() };
    let state = Snapshot { questions: vec![Arc::new(question)], ..with(vec![waits("line")]) };
    let mut heart = Heart::on(state);
    assert!(heart.writes("5 q03", 10).contains("/lines for several"));
    assert!(heart.writes("/lines", 900).contains("a line with a single . ends them"));
    for line in ["quit", "", "  three ."] {
        assert_eq!(heart.writes(line, 10), "");
    }
    heart.writes(".", 10);
    let [msg::Effect::Ask(Request { act: Act::Answer { given, .. }, .. })] = heart.does()[..] else {
        panic!("{:?}", heart.acts)
    };
    assert_eq!(given.value, AnswerValue::Text("quit\n\n  three .".into()));

    heart.writes("line t01", 10);
    heart.writes("/lines", 10);
    heart.writes("one", 10);
    heart.writes("two", 10);
    heart.writes(".", 10);
    let [msg::Effect::Ask(Request { act: Act::Call { tool, input, .. }, .. })] = heart.does()[..] else {
        panic!("{:?}", heart.acts)
    };
    assert_eq!(tool, "TaskInput");
    assert_eq!(input["input"], "one\rtwo\r");

    heart.writes("line t01", 10);
    heart.writes("/lines", 10);
    heart.writes("one", 10);
    assert!(heart.writes("/back", 10).contains("left as it is") && heart.does().is_empty());
    assert!(heart.writes("two", 10).contains("not on the menu"));

    let mut heart = Heart::on(with(vec![waits("secret")]));
    heart.writes("line t01", 10);
    heart.writes("/lines", 10);
    assert!(
        matches!(heart.does()[..], [msg::Effect::Ask(Request { act: Act::Send(_), .. })]),
        "a secret is one line, whatever it is"
    );
}

#[test]
fn f50_lines_that_come_at_once_are_no_commands_and_no_answers() {
    let held = call(7, &["rm -rf build"], HoldReason::Paused);
    let state = Snapshot {
        gate: GateView { paused: None, held: vec![held], allowed: 0, turns: 0, rules: 0 },
        ..with(vec![waits("line"), task(3, "sleep 1000", 9, 3)])
    };
    let mut heart = Heart::on(state);
    let paste = |heart: &mut Heart, text: &str| {
        let lines = text.lines().count();
        heart.now += SignedDuration::from_secs(2);
        heart.hears(PlainEvent::Entered(EnteredLine::Pasted { lines, text: Some(text.into()) }, heart.now))
    };
    for opened in ["", "stop t03", "line t01", "start", "attention call 318", "signal t03", "rename t03"] {
        let told = heart.writes(opened, 10);
        assert!(!opened.starts_with("attention") || told.contains("run (once)"), "{told}");
        for text in ["run\ny\n", "s\nstop\nKILL\n", "quit\n1\n"] {
            assert!(paste(&mut heart, text).contains("lines at once were not taken"), "{opened}: {text}");
            assert!(heart.does().is_empty(), "{opened}: {text}");
        }
        heart.writes("/back", 10);
    }

    heart.writes("line t01", 10);
    heart.writes("/lines", 10);
    assert!(paste(&mut heart, "one\ntwo\n.\nquit\n").contains("1 lines behind its end were not taken"));
    let [msg::Effect::Ask(Request { act: Act::Call { input, .. }, .. })] = heart.does()[..] else {
        panic!("{:?}", heart.acts)
    };
    assert_eq!(input["input"], "one\rtwo\r");

    // Too much is nothing, but ends where it would have ended.
    heart.writes("line t01", 10);
    heart.writes("/lines", 10);
    heart.hears(PlainEvent::Entered(EnteredLine::Pasted { lines: 100_000, text: None }, heart.now));
    assert_eq!(heart.writes("quit", 10), "");
    assert!(heart.writes(".", 10).contains("nothing was sent") && heart.does().is_empty());
}

#[test]
fn a_signal_is_sent_by_its_name() {
    let mut heart = Heart::on(with(vec![task(1, "sleep 1000", 9, 3)]));
    let sent = |heart: &Heart| match heart.does()[..] {
        [msg::Effect::Ask(Request { act: Act::Call { tool, input, .. }, .. })] if tool == "TaskStop" => {
            input["signal"].as_str().map(str::to_owned)
        }
        _ => None,
    };
    heart.writes("signal t01 usr1", 10);
    assert_eq!(sent(&heart).as_deref(), Some("USR1"));
    let asked = heart.writes("12", 10);
    assert!(asked.starts_with("which signal for t01? INT, ") && asked.contains("; HUP, "), "{asked}");
    heart.writes("SIGINT", 10);
    assert_eq!(sent(&heart).as_deref(), Some("INT"));
    assert!(heart.writes("signal t01 stop", 10).contains("is no signal") && heart.does().is_empty());
    heart.writes("signal", 10);
    assert!(heart.writes("", 10).contains("left as it is") && heart.does().is_empty());
}

#[test]
fn tasks_that_an_agent_left_running_are_told_listed_and_ended_by_name() {
    let by = |task: TaskView, agent: &str| TaskView { started_by: Actor::Agent(agent.into()), ..task };
    let agents = |turns, connected| {
        let of = |label: &str| AgentView { label: label.into(), connected, turns, ..AgentView::default() };
        vec![of("claude"), of("pi")]
    };
    let tasks = || {
        let over = ended(task(3, "make", 9, 3), TaskStatus::Completed, Some(0), 2);
        vec![
            by(task(1, "npm run dev", 9, 3), "claude"),
            by(task(2, "sleep 9", 9, 3), "claude"),
            by(over, "claude"),
        ]
    };
    let there = Snapshot { agents: agents(1, true), ..with(tasks()) };
    let gone = Snapshot { agents: agents(2, false), ..with(tasks()) };
    let told = said(&there, &gone);
    assert!(told.contains("agent claude: has gone; it left t01, t02 running\n"), "{told}");
    assert!(told.contains("agent pi: has gone\n"), "{told}");

    let mut heart = Heart::on(there);
    assert!(heart.writes("left", 10).contains("no agent that has gone left anything running"));
    heart.hears(PlainEvent::News(Arc::new(gone)));
    let listed = heart.writes("left", 10);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].contains("claude has gone; left end claude ends what it left:"), "{listed}");
    assert!(lines.len() == 3 && lines[1].contains("npm run dev") && heart.does().is_empty(), "{listed}");
    assert!(
        heart.writes("left end pi", 10).contains("what is left is of: claude") && heart.does().is_empty()
    );
    let ending = heart.writes("left end claude", 10);
    assert!(ending.contains("stopping t01, t02") && heart.does().len() == 2, "{ending}");
}

#[test]
fn a_task_is_named_and_its_name_taken_away() {
    let state = with(vec![task(1, "make", 9, 3)]);
    let mut heart = Heart::on(state.clone());
    heart.writes("name t01 the build", 10);
    assert!(
        matches!(heart.does()[..], [msg::Effect::Ask(Request { subject: Subject::Task(task), act: Act::Rename(Some(name)) })] if *task == id(1) && name == "the build")
    );
    assert!(heart.writes("13 t01", 10).contains("an empty line takes it away"));
    heart.writes("", 10);
    assert!(
        matches!(heart.does()[..], [msg::Effect::Ask(Request { act: Act::Rename(None), .. })]),
        "{:?}",
        heart.acts
    );
    heart.writes("name", 10);
    assert!(heart.writes("/back", 10).contains("left as it is") && heart.does().is_empty());
    let named = with(vec![TaskView { name: Some("the build".into()), ..task(1, "make", 9, 3) }]);
    assert_eq!(said(&state, &named), "operator: named t01 the build\n");
    assert_eq!(said(&named, &state), "operator: took its name from t01\n");
}

#[test]
fn a_program_is_told_statement_by_statement() {
    let of = |program: ProgramView| Snapshot { programs: vec![Arc::new(program)], ..empty() };
    let with = |change: &dyn Fn(&mut ProgramView)| {
        let mut next = program();
        change(&mut next);
        of(next)
    };
    let running = of(program());
    insta::assert_snapshot!("spoken_program", said(&empty(), &running));
    assert_eq!(said(&running, &running), "");
    let ended = with(&|next| {
        (next.steps[3].state, next.steps[3].exit_code) = (StepState::Done, Some(0));
        next.events.push(event(5, StepState::Done, Some(0)));
    });
    assert_eq!(said(&running, &ended), "system: release.prose line 5 ended: exit 0\n");
    let again = with(&|next| {
        next.steps[1].task = Some(id(9));
        (next.steps[1].state, next.steps[1].exit_code) = (StepState::Failed, Some(128));
        next.events.push(event(3, StepState::Running, None));
        next.events.push(event(3, StepState::Failed, Some(128)));
    });
    assert_eq!(
        said(&running, &again),
        "system: release.prose line 3 begins: let branch = exec \"git rev-parse --abbrev-ref HEAD\"\n\
         system: release.prose line 3 failed: exit 128\n",
        "a pass between two looks is told whole"
    );
    let task_known = with(&|next| next.steps[2].task = Some(id(7)));
    assert_eq!(said(&running, &task_known), "", "its command is told of by itself");
    let asking = of(at_gate());
    let told = said(&running, &asking);
    assert!(told.contains("release.prose line 9 is passed over: if **the tests pass**:\n"), "{told}");
    assert!(!told.contains("line 13"), "what asks is told by the question: {told}");
    let turn = |pass| {
        with(&|next| {
            next.loops = vec![LoopView { lines: LineRange { first: 7, last: 8 }, pass, max: Some(5) }];
            next.events.extend((2..=pass).map(|pass| ProgramEvent::Pass { line: 7, pass, max: Some(5) }));
        })
    };
    assert_eq!(said(&turn(1), &turn(2)), "system: release.prose line 7: pass 2 of at most 5\n");
    assert_eq!(said(&turn(1), &turn(4)).lines().count(), 3, "each pass between two looks");
    let over = with(&|next| next.state = RunState::Completed);
    assert_eq!(said(&running, &over), "system: the program release.prose completed\n");
}

#[test]
fn events_that_came_and_went_between_two_snapshots_are_told() {
    let of = |turns, connected, pauses| {
        let agent =
            AgentView { label: "ci".into(), client: "ci 1".into(), turns, connected, ..AgentView::default() };
        let gate = GateView { turns: pauses, ..GateView::default() };
        Snapshot { agents: vec![agent], gate, ..empty() }
    };
    assert_eq!(
        said(&empty(), &of(2, false, 2)),
        "agent ci: connected, ci 1\nagent ci: has gone\n\
         operator: paused agents: new commands wait\noperator: resumed agents\n"
    );
    assert_eq!(said(&of(1, true, 1), &of(2, false, 1)), "agent ci: has gone\n");
    assert_eq!(said(&of(1, true, 1), &of(3, true, 2)).lines().count(), 3);
    assert_eq!(said(&of(1, true, 1), &of(1, true, 1)), "");
    let many = said(&empty(), &of(u64::MAX, true, u64::MAX));
    assert_eq!(many.lines().count(), 64, "a place may claim any number");
    let stopped = TaskFact::Stop { force: false, why: None, kill_at: None };
    let over = ended(task(1, "sleep 9", 9, 3), TaskStatus::Cancelled, None, 0);
    let events = vec![TaskEvent { at: ago(1), actor: Actor::Operator, fact: stopped }];
    let told = said(&empty(), &with(vec![TaskView { events, ..over }]));
    assert!(told.contains("operator: stops t01: sleep 9\nsystem: t01 ended: "), "{told}");
}

#[test]
fn with_several_places_a_pause_is_told_of_its_place() {
    let before = fleet(lost());
    let mut after = before.clone();
    let paused = Arc::make_mut(&mut after.places[1]);
    Arc::make_mut(&mut paused.snapshot).gate =
        GateView { paused: Some(ago(1)), turns: 1, ..GateView::default() };
    assert_eq!(said(&before, &after), "operator: paused agents of api: new commands wait\n");
    let attached = |turns| {
        let mut state = after.clone();
        let place = Arc::make_mut(&mut state.places[1]);
        Arc::make_mut(&mut place.snapshot).gate.turns = turns;
        state
    };
    let mut unattached = before.clone();
    Arc::make_mut(&mut unattached.places[1]).snapshot = Arc::default();
    assert_eq!(said(&unattached, &attached(4)), "", "what was before it was attached is not told");
    assert_eq!(said(&unattached, &attached(5)), "operator: paused agents of api: new commands wait\n");
}

#[test]
fn stopping_and_quitting_ask_first() {
    let mut heart = Heart::on(with(vec![task(1, "sleep 1000", 9, 3)]));
    assert!(heart.writes("stop", 10).contains("stop t01? sleep 1000") && heart.does().is_empty());
    heart.writes("", 10);
    assert!(heart.does().is_empty());
    heart.writes("4 1", 10);
    heart.writes("k", 10);
    let [msg::Effect::Ask(Request { act: Act::Call { tool, input, .. }, .. })] = heart.does()[..] else {
        panic!("{:?}", heart.acts)
    };
    assert_eq!(tool, "TaskStop");
    assert_eq!(input["force"], true);
    assert!(heart.writes("quit", 10).contains("1 task is running. 1: stop all and quit"));
    assert!(heart.writes("2", 10).contains("stays"), "the runtime is in this console");
    heart.hears(PlainEvent::Interrupted);
    assert!(heart.said().contains("1 task is running") && heart.does().is_empty(), "Control-C asks");
    heart.writes("1", 10);
    assert!(matches!(heart.does()[..], [msg::Effect::Quit(Leave::StopAll)]));
    let mut idle = Heart::on(empty());
    idle.writes("0", 10);
    assert!(idle.leaves());
    let mut idle = Heart::on(empty());
    idle.hears(PlainEvent::EndKey);
    assert!(idle.leaves(), "Control-D");
}

#[test]
fn the_menu_of_a_recording_lists_what_can_be_done_to_one_and_nothing_else() {
    let state = Snapshot { questions: vec![Arc::new(gate())], ..with(vec![task(1, "make", 9, 3)]) };
    let all = Heart::on(state.clone()).said();
    let mut heart = Heart::of_a_recording(state);
    let menu = heart.said();
    assert!(all.contains("waits for you") && !menu.contains("waits for you"), "{menu}");
    let word = |line: &str| {
        let (number, rest) = line.split_once(' ')?;
        let _: u8 = number.parse().ok()?;
        rest.split_once(':').map(|(word, _)| word.to_owned())
    };
    let listed: Vec<String> = menu.lines().filter_map(word).collect();
    assert_eq!(listed, ["tasks", "output", "screen", "receipts", "help", "quit"]);
    for word in all.lines().filter_map(word) {
        let refused = heart.writes(&word, 10).contains("a recording is only looked at");
        assert_eq!(refused, !listed.contains(&word), "{word}");
    }
}

#[test]
fn a_plain_console_tells_every_half_minute_that_a_task_still_runs() {
    let mut heart = Heart::on(with(vec![waits("line")]));
    assert_eq!(heart.talk.next_time(), Some(now() + SignedDuration::from_secs(30)));
    heart.now += SignedDuration::from_secs(29);
    assert_eq!(heart.hears(PlainEvent::Time), "");
    heart.now += SignedDuration::from_secs(1);
    assert_eq!(
        heart.hears(PlainEvent::Time),
        "system: still running: t01 running, waiting for input for 39s, by agent claude: npm init. 1 thing waits for \
         you: attention\n"
    );
    assert_eq!(Heart::on(empty()).talk.next_time(), None, "nothing runs, nothing is said");
}

#[test]
fn a_plain_console_without_further_input_leaves_after_the_last_task() {
    let mut heart = Heart::on(with(vec![task(1, "make", 9, 3)]));
    assert!(heart.hears(PlainEvent::InputEnded).contains("leaves when nothing runs"));
    heart.now += SignedDuration::from_secs(4);
    heart.hears(PlainEvent::Time);
    assert!(!heart.leaves());
    let over = with(vec![ended(task(1, "make", 9, 3), TaskStatus::Completed, Some(0), 0)]);
    heart.hears(PlainEvent::News(Arc::new(over)));
    assert!(!heart.leaves(), "another command may follow");
    heart.now += SignedDuration::from_secs(3);
    heart.hears(PlainEvent::Time);
    assert!(heart.leaves());
}

#[test]
fn output_is_read_on_from_where_it_was_read() {
    let mut heart = Heart::on(with(vec![task(1, "make", 9, 3)]));
    heart.writes("output", 10);
    assert!(matches!(&heart.acts[..], [PlainEffect::Read(task, 0, Purpose::Asked)] if *task == id(1)));
    let reading =
        |text: &str, next| OutputReading { purpose: Purpose::Asked, text: text.into(), left_out: 0, next };
    let said = heart.hears(PlainEvent::Read(id(1), reading("one\n\ttwo \u{200b}\n", 12)));
    assert_eq!(said, "t01: one\nt01:         two ⟨U+200B⟩\n");
    heart.writes("2 t01", 10);
    assert!(matches!(heart.acts[..], [PlainEffect::Read(_, 12, _)]));
    assert_eq!(heart.hears(PlainEvent::Read(id(1), reading("", 12))), "t01 wrote nothing new\n");
    let many: String = (0..250).map(|n| format!("line {n}\n")).collect();
    let said = heart.hears(PlainEvent::Read(id(1), reading(&many, 2_000)));
    assert!(said.starts_with("left out before this: 50 lines") && said.ends_with("t01: line 249\n"));
}

/// While a question is open, a command still works: by its name where that is no answer, otherwise after a slash.
#[test]
fn commands_work_in_the_middle_of_a_question() {
    for (asked, command) in [
        ("signal t01", "tasks"),
        ("stop t01", "tasks"),
        ("line t01", "/tasks"),
        ("name t01", "/tasks"),
        ("start", "/tasks"),
    ] {
        let mut heart = Heart::on(with(vec![waits("line")]));
        let _ = heart.writes(asked, 900);
        let told = heart.writes(command, 900);
        assert!(
            told.contains("npm init") && told.contains("what was asked before is still open"),
            "{asked}: {told}"
        );
        assert!(heart.does().is_empty(), "{asked}");
    }
    let mut heart = Heart::on(with(vec![waits("line")]));
    let _ = heart.writes("signal t01", 900);
    let _ = heart.writes("tasks", 900);
    let _ = heart.writes("INT", 900);
    assert_eq!(heart.does().len(), 1, "the signal is still asked for");
    let _ = heart.writes("line t01", 900);
    let _ = heart.writes("tasks", 900);
    assert_eq!(heart.does().len(), 1, "a line for a task may be any word");
    let mut heart = Heart::on(with(vec![waits("secret")]));
    let _ = heart.writes("line t01", 900);
    let _ = heart.writes("/tasks", 900);
    assert_eq!(heart.does().len(), 1, "a secret may look like anything");
}

#[test]
fn a_watch_rule_tells_of_a_task_once() {
    let mut heart = Heart::on(with(vec![task(1, "make test", 9, 0)]));
    assert!(heart.writes("watch t01 fail", 10).contains("t01 is told of when it fails"));
    assert!(heart.writes("watch t01 20 s", 10).contains("t01 is told of when it is silent for 20 s"));
    assert!(heart.writes("watch t01 /panic/", 10).contains("t01 is told of when it prints panic"));
    let wrote = |bytes| {
        let task = task(1, "make test", 9, 0);
        TaskView { output: pilothouse::model::OutputView { bytes, ..task.output }, ..task }
    };
    let _ = heart.hears(PlainEvent::News(Arc::new(with(vec![wrote(50_000)]))));
    let asked = |act: &PlainEffect| matches!(act, PlainEffect::Read(_, 41_200, Purpose::Watched));
    assert!(heart.acts.iter().any(asked), "{:?}", heart.acts);
    let text = "ok\nthread panicked\n".to_owned();
    let reading = OutputReading { purpose: Purpose::Watched, text, left_out: 0, next: 50_000 };
    assert_eq!(
        heart.hears(PlainEvent::Read(id(1), reading)),
        "system: watch: t01 printed: thread panicked\n"
    );
    heart.now += SignedDuration::from_secs(19);
    assert_eq!(heart.hears(PlainEvent::Time), "");
    heart.now += SignedDuration::from_secs(1);
    assert_eq!(heart.hears(PlainEvent::Time), "system: watch: t01 silent for 20 s: make test\n");
    heart.now += SignedDuration::from_secs(1);
    assert_eq!(heart.hears(PlainEvent::Time), "", "once");
    let failed = ended(wrote(50_000), TaskStatus::Failed, Some(2), -30);
    let said = heart.hears(PlainEvent::News(Arc::new(with(vec![failed]))));
    assert!(said.contains("watch: t01 failed: exit 2: make test"), "{said}");
}

#[test]
fn with_several_places_a_command_starts_where_the_line_says() {
    let mut heart = Heart::on(fleet(lost()));
    let places = heart.writes("places", 900);
    assert!(places.contains("api live, 1 live, 0 waiting, this machine, /home/ana/api"), "{places}");
    assert!(places.contains("docs lost 12s ago"), "{places}");
    assert!(heart.writes("start make", 900).contains("start in PLACE COMMAND; places: web-fix, api, docs"));
    assert!(heart.writes("start in nowhere make", 900).contains("no place is called \"nowhere\""));
    let _ = heart.writes("start in api make all", 900);
    let starts = |effect: &PlainEffect| match effect {
        PlainEffect::Do(msg::Effect::AskAt(place, Request { act: Act::Call { input, .. }, .. })) => {
            Some((place.clone(), input["cmd"].as_str().map(str::to_owned)))
        }
        _ => None,
    };
    let started = heart.acts.iter().find_map(starts);
    assert_eq!(started, Some((PlaceId::from("api"), Some("make all".to_owned()))));
}

/// A number of a place, as it stands in the snapshot of all.
fn number(place: u16, own: u64) -> u64 {
    Slot(place + 1).number(own).expect("room")
}

/// The first two places with such links, and a third one.
fn fleet_of(links: [&PlaceLink; 2]) -> Vec<Arc<PlaceState>> {
    let [first, second] = links.map(PlaceLink::clone);
    vec![place(0, first), place(1, second), place(2, PlaceLink::Live)]
}

/// Returns which call's receipt was asked for.
fn asked(heart: &Heart) -> Option<u64> {
    heart.does().into_iter().find_map(|effect| match effect {
        msg::Effect::Ask(Request { subject: Subject::Call(seq), act: Act::Record }) => Some(*seq),
        _ => None,
    })
}

#[test]
fn with_several_places_a_call_is_called_by_its_place() {
    let before = fleet(lost());
    let of = |at: usize, own| CallSummary {
        seq: number(u16::try_from(at).expect("few"), own),
        status: Some("error".into()),
        summary: "no such folder".into(),
        asked: String::new(),
        ..CallSummary::clone(&before.calls[at])
    };
    let mut state = before.clone();
    state.calls.extend([of(1, 12), of(1, 1_234), of(0, 7)].map(Arc::new));
    let news = said(&before, &state);
    assert!(news.contains("agent api/claude: call api/12 error: no such folder"), "{news}");
    let mut heart = Heart::on(state);
    let listed = heart.writes("receipts", 900);
    for name in ["web-fix/1", "api/1", "docs/1", "api/12", "api/1234", "web-fix/7"] {
        assert!(listed.lines().any(|line| line.starts_with(&format!("{name} agent "))), "{name}: {listed}");
    }
    let read =
        heart.hears(PlainEvent::Done(Msg::Record(Arc::new(CallRecord { seq: number(1, 12), ..record() }))));
    assert!(read.starts_with("call api/12, "), "{read}");

    // By its name, by its number where one place alone has it, and by the number that it has among those of all.
    for (written, own) in [
        ("api/12", number(1, 12)),
        ("call api/12", number(1, 12)),
        ("12", number(1, 12)),
        ("api/1,234", number(1, 1_234)),
        ("1,234", number(1, 1_234)),
        ("7", number(0, 7)),
        ("docs/99", number(2, 99)),
        (&number(0, 1).to_string(), number(0, 1)),
    ] {
        let said = heart.writes(&format!("receipts {written}"), 900);
        assert_eq!(asked(&heart), Some(own), "{written}: {said}");
    }
    for (written, why) in [
        ("1", "say of which place: web-fix/1, api/1, docs/1"),
        ("99", "say of which place: web-fix/99, api/99, docs/99"),
        ("nowhere/1", "no place is called \"nowhere\"; places: web-fix, api, docs"),
        ("api/x", "\"api/x\" is no call"),
        ("api/281474976710656", "\"api/281474976710656\" is no call"),
    ] {
        let said = heart.writes(&format!("receipts {written}"), 900);
        assert!(said.contains(why) && asked(&heart).is_none(), "{written}: {said}");
    }
    let mut single = Heart::on(snapshot());
    let _ = single.writes("receipts 12", 900);
    assert_eq!(asked(&single), Some(12), "with one runtime a call is called by its number alone");
}

#[test]
fn with_several_places_a_held_call_is_opened_by_its_name() {
    let held = |place, ticket, own| HeldCall {
        ticket: number(place, ticket),
        call: number(place, own),
        actor: Actor::Agent("api/claude".into()),
        task: None,
        ..call(ticket, &["git push"], HoldReason::Paused)
    };
    let waits = vec![held(0, 1, 311), held(1, 1, 311), held(1, 2, 2)];
    let state = Snapshot {
        tasks: Vec::new(),
        gate: GateView { paused: Some(ago(60)), held: waits, allowed: 0, turns: 0, rules: 0 },
        ..fleet(lost())
    };
    let news = said(&fleet(lost()), &state);
    assert!(news.contains("wants to run: git push; call api/311 needs approval"), "{news}");
    let decided = |heart: &Heart| {
        heart.does().into_iter().find_map(|effect| match effect {
            msg::Effect::Ask(Request { subject: Subject::Held(ticket), act: Act::Decide { .. } }) => {
                Some(*ticket)
            }
            _ => None,
        })
    };
    for (opening, ticket, name) in [
        (&["attention api/311"][..], number(1, 1), "api/311"),
        (&["attention", "web-fix/311"], number(0, 1), "web-fix/311"),
        (&["attention", "call api/311"], number(1, 1), "api/311"),
        (&["attention", "call 2"], number(1, 2), "api/2"),
        // A number alone is one of the list.
        (&["attention", "2"], number(1, 1), "api/311"),
    ] {
        let mut heart = Heart::on(state.clone());
        assert!(heart.said().contains("waits for you: call web-fix/311: "), "{}", heart.said());
        let card = opening.iter().map(|line| heart.writes(line, 900)).last().unwrap_or_default();
        assert!(card.contains(&format!("call {name} ")), "{opening:?}: {card}");
        let _ = heart.writes("run", 900);
        assert_eq!(decided(&heart), Some(ticket), "{opening:?}");
    }
    let connecting = PlaceLink::Connecting;
    let mut heart = Heart::on(Snapshot { places: fleet_of([&connecting, &lost()]), ..state.clone() });
    for (name, why) in [("web-fix/311", "web-fix is not attached yet"), ("api/2", "api is lost: ")] {
        let told = heart.writes(&format!("attention {name}"), 900);
        assert!(told.contains("git push") && told.contains(why), "{told}");
        let _ = heart.writes("run", 900);
        assert_eq!(decided(&heart), None, "{name}");
    }
    let mut heart = Heart::on(state);
    for (written, why) in [
        ("call 311", "say of which place: web-fix/311, api/311"),
        ("docs/311", "\"docs/311\" does not wait"),
        ("nowhere/311", "\"nowhere/311\" does not wait"),
        ("9", "\"9\" does not wait"),
    ] {
        let said = heart.writes(&format!("attention {written}"), 900);
        assert!(said.contains(why), "{written}: {said}");
    }
}

#[test]
fn a_question_of_a_place_that_takes_no_answer_is_told_and_not_asked() {
    for question in [gate(), text(true)] {
        let question = Arc::new(Question { place: Some(name(1)), ..question });
        let places = fleet_of([&PlaceLink::Live, &lost()]);
        let mut heart =
            Heart::on(Snapshot { tasks: Vec::new(), questions: vec![question], places, ..fleet(lost()) });
        let told = heart.writes("attention 1", 900);
        assert!(told.contains("api/q0") && told.contains("api is lost: "), "{told}");
        assert!(
            !heart.acts.iter().any(|act| matches!(act, PlainEffect::Hide(true))),
            "no secret is asked for"
        );
        assert!(heart.writes("approve", 900).contains("is not on the menu"));
        assert!(heart.does().is_empty());
    }
}
