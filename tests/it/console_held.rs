//! Held calls in the console: what is shown of them, and when a key counts as an answer.

use std::sync::Arc;

use jiff::SignedDuration;
use pilothouse::consequence::rule_words::Prefix;
use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::msg::{Effect, Msg, Notification};
use pilothouse::console::{DemoCue, DemoView};
use pilothouse::envelope::Actor;
use pilothouse::link::{Act, Request};
use pilothouse::model::{
    CallCost, Decision, GateView, HeldCall, HeldCommand, HoldReason, Slot, Snapshot, Subject, TaskFact,
    TaskStatus,
};

use crate::console_fixture::{
    SIZES, ago, console as open, empty, ended, event, id, now, press, select, shown, snapshot, task,
};

fn command(cmd: &str) -> HeldCommand {
    HeldCommand {
        cmd: cmd.into(),
        workdir: "/home/ana/demo-repo".into(),
        shell: Some("/bin/bash".into()),
        login: true,
        tty: false,
    }
}

pub(crate) fn call(ticket: u64, cmds: &[&str], reason: HoldReason) -> HeldCall {
    HeldCall {
        ticket,
        call: 311 + ticket,
        actor: Actor::Agent("claude".into()),
        behind: None,
        tool: "ExecCommand".into(),
        task: (cmds.len() == 1).then(|| id(11)),
        commands: cmds.iter().map(|cmd| command(cmd)).collect(),
        description: Some("publish what we have".into()),
        reason,
        since: ago(12),
        hash: format!("{ticket:x}").repeat(64),
        cost: pilothouse::model::CallCost::default(),
    }
}

pub(crate) fn ruled() -> HoldReason {
    HoldReason::Rule("prefix \"git push\"".into())
}

fn waiting(held: Vec<HeldCall>) -> Snapshot {
    let mut queued = task(11, "git push origin main", 12, 12);
    queued.status = TaskStatus::Queued;
    queued.held = Some(HoldReason::Paused);
    let mut snapshot = snapshot();
    snapshot.tasks.push(Arc::new(queued));
    Snapshot { gate: GateView { paused: Some(ago(60)), held, allowed: 0, turns: 0, rules: 0 }, ..snapshot }
}

/// A console whose card has been on screen for a second.
pub(crate) fn looked_at(held: Vec<HeldCall>, size: (u16, u16)) -> App {
    let mut app = open(waiting(held), size);
    let _ = press(&mut app, &["A"]);
    app.mark_drawn();
    later(&mut app, 1_000);
    app
}

fn later(app: &mut App, ms: i64) {
    let _ = app.update(Msg::Tick(app.state.clock.now + SignedDuration::from_millis(ms)));
}

fn decisions(effects: &[Effect]) -> Vec<(u64, Decision)> {
    let decision = |effect: &Effect| match effect {
        Effect::Ask(Request { subject: Subject::Held(ticket), act: Act::Decide { decision, .. } }) => {
            Some((*ticket, decision.clone()))
        }
        _ => None,
    };
    effects.iter().filter_map(decision).collect()
}

#[test]
fn the_cards_of_held_calls_match_their_snapshots() {
    for size in SIZES {
        let held =
            vec![call(1, &["git push origin main"], ruled()), call(2, &["ls", "make"], HoldReason::Paused)];
        let app = looked_at(held, size);
        insta::assert_snapshot!(format!("held_card_{}x{}", size.0, size.1), shown(&app));
    }
}

/// A call of which this was computed, for the `revision`th time.
fn costing(revision: u32, cmds: &[&str], sentences: &[&[&str]]) -> HeldCall {
    let commands = sentences.iter().map(|all| all.iter().map(|one| (*one).to_owned()).collect()).collect();
    let gone = if revision > 1 {
        vec!["deletes 3 files, 2 KB in build (ignored by git)".into()]
    } else {
        Vec::new()
    };
    HeldCall { cost: CallCost { revision, commands, gone }, ..call(1, cmds, ruled()) }
}

const MEANS: &[&str] = &[
    "$DIR is not set: \"$DIR/\"* means /*",
    "deletes more than 18,435 files, 720 MB: /bin, /boot, /dev and 21 more; outside the workspace: /bin and 23 more",
    "not known: the rest: more than 20,000 paths to look at",
];

#[test]
fn the_card_says_what_it_would_cost_and_of_several_commands_a_line_each() {
    for size in SIZES {
        let one = looked_at(vec![costing(1, &["rm -rf \"$DIR/\"*"], &[MEANS])], size);
        insta::assert_snapshot!(format!("held_cost_{}x{}", size.0, size.1), shown(&one));
        let cmds = ["rm -rf \"$DIR/\"*", "make clean", "ls"];
        let costs: &[&[&str]] = &[&MEANS[..1], &["not known: what make clean does"], &["no cost computed"]];
        let several = looked_at(vec![costing(1, &cmds, costs)], size);
        insta::assert_snapshot!(format!("held_costs_{}x{}", size.0, size.1), shown(&several));
    }
}

#[test]
fn a_cost_that_comes_or_changes_has_to_be_read_before_a_key_counts() {
    let cmds = ["rm -rf build"];
    let told = |revision, sentence: &str| {
        Msg::Snapshot(Arc::new(waiting(vec![costing(revision, &cmds, &[&[sentence]])])))
    };
    let mut app = looked_at(vec![call(1, &cmds, ruled())], (80, 24));
    let _ = app.update(told(1, "deletes 3 files, 2 KB in build (ignored by git)"));
    assert_eq!(decisions(&press(&mut app, &["y"])), [], "it came just now");
    app.mark_drawn();
    later(&mut app, 399);
    assert_eq!(decisions(&press(&mut app, &["y"])), []);
    later(&mut app, 1);
    let asked = press(&mut app, &["y"]);
    let cost = asked.iter().find_map(|effect| match effect {
        Effect::Ask(Request { act: Act::Decide { cost, .. }, .. }) => Some(*cost),
        _ => None,
    });
    assert_eq!(cost, Some(1), "the answer names what it was given to");

    // The runtime has refused it: it would cost something else by now.
    let _ = app.update(told(2, "deletes 4 files, 2 KB in build (ignored by git)"));
    app.mark_drawn();
    insta::assert_snapshot!("held_cost_changed_80x24", shown(&app));
    assert_eq!(decisions(&press(&mut app, &["y"])), []);
    later(&mut app, 1_000);
    assert_eq!(decisions(&press(&mut app, &["y"])).len(), 1);
}

#[test]
fn a_held_call_is_shown_in_bar_list_and_notice() {
    for size in SIZES {
        let app = open(waiting(vec![call(1, &["git push origin main"], ruled())]), size);
        insta::assert_snapshot!(format!("held_tasks_{}x{}", size.0, size.1), shown(&app));
    }
}

#[test]
fn a_key_typed_before_the_card_was_seen_is_no_answer() {
    let held = vec![call(1, &["git push"], ruled())];
    let mut app = open(waiting(held), (80, 24));
    assert_eq!(decisions(&press(&mut app, &["A", "y"])), []);
    app.mark_drawn();
    later(&mut app, 200);
    assert_eq!(decisions(&press(&mut app, &["y"])), [], "within a third of a second");
    later(&mut app, 200);
    assert_eq!(decisions(&press(&mut app, &["y"])), [(1, Decision::Once)]);
    assert_eq!(decisions(&press(&mut app, &["y", "e"])), [], "one answer is all there is");
}

#[test]
fn a_step_of_a_demonstration_waits_for_the_call_that_it_shows() {
    let mut app = open(waiting(vec![]), (80, 24));
    let cue = DemoCue { view: DemoView::Approvals, task: None };
    let _ = app.update(Msg::Cue(cue));
    assert!(app.layers.is_empty() && !shown(&app).contains("no call needs approval"), "{}", shown(&app));
    let _ = app.update(Msg::Snapshot(Arc::new(waiting(vec![call(1, &["git push"], ruled())]))));
    assert!(matches!(app.layers.last(), Some(Layer::Approval(_))), "{}", shown(&app));
}

#[test]
fn the_next_card_is_to_be_seen_anew() {
    let held = vec![call(1, &["git push"], ruled()), call(2, &["git push -f"], ruled())];
    let mut app = looked_at(held, (80, 24));
    assert_eq!(decisions(&press(&mut app, &["e"])), [(1, Decision::Exact)]);
    let _ = app.update(Msg::Snapshot(Arc::new(waiting(vec![call(2, &["git push -f"], ruled())]))));
    assert_eq!(decisions(&press(&mut app, &["y"])), []);
    app.mark_drawn();
    later(&mut app, 400);
    assert_eq!(decisions(&press(&mut app, &["y"])), [(2, Decision::Once)]);
    let _ = app.update(Msg::Snapshot(Arc::new(waiting(vec![]))));
    assert!(app.layers.is_empty(), "with nothing held the card closes");
}

/// A withdrawn card used to be replaced by the next one, which counted as read 400 ms later: a `y` for the one answered
/// the other.
#[test]
fn f57_no_other_card_takes_the_place_of_one_that_is_withdrawn() {
    let both = vec![call(1, &["git push"], ruled()), call(2, &["rm -r src"], ruled())];
    let mut app = looked_at(both, (80, 24));
    let _ = app.update(Msg::Snapshot(Arc::new(waiting(vec![call(2, &["rm -r src"], ruled())]))));
    app.mark_drawn();
    later(&mut app, 450);
    assert_eq!(decisions(&press(&mut app, &["y", "e", "w", "n", "y", "Tab"])), []);
    assert!(shown(&app).contains("this call no longer waits"), "{}", shown(&app));
    assert_eq!(decisions(&press(&mut app, &["Enter", "y"])), []);
    assert!(app.layers.is_empty(), "a key closes it");
    let _ = press(&mut app, &["A"]);
    app.mark_drawn();
    later(&mut app, 400);
    assert_eq!(decisions(&press(&mut app, &["y"])), [(2, Decision::Once)]);
}

#[test]
fn f57_a_note_that_is_being_written_is_not_read_as_keys_when_its_call_is_withdrawn() {
    let both = vec![call(1, &["git push"], ruled()), call(2, &["rm -r src"], ruled())];
    let mut app = looked_at(both, (80, 24));
    let _ = press(&mut app, &["n", "n", "o"]);
    let _ = app.update(Msg::Snapshot(Arc::new(waiting(vec![call(2, &["rm -r src"], ruled())]))));
    app.mark_drawn();
    later(&mut app, 450);
    assert_eq!(decisions(&press(&mut app, &["q", "y", "Enter"])), []);
    assert!(matches!(app.layers.last(), Some(Layer::Approval(card)) if card.ticket == 1));
    assert_eq!(decisions(&press(&mut app, &["Esc"])), []);
    assert!(app.layers.is_empty());
}

/// A host that keeps an answered card for as long as it likes must not choose when the card of another place appears.
#[test]
fn f57_after_an_answer_only_a_card_of_the_same_place_follows() {
    let other = Slot(3).number(2).expect("a number");
    let of_two =
        |held: &[u64]| waiting(held.iter().map(|ticket| call(*ticket, &["git push"], ruled())).collect());
    let mut app = looked_at(vec![call(1, &["ls"], ruled()), call(other, &["make"], ruled())], (80, 24));
    assert_eq!(decisions(&press(&mut app, &["y"])), [(1, Decision::Once)]);
    let _ = app.update(Msg::Snapshot(Arc::new(of_two(&[other]))));
    assert!(app.layers.is_empty(), "no card of the other place");
}

#[test]
fn a_long_command_is_read_to_its_end_before_it_is_approved() {
    let cmd = (1..60).map(|line| format!("echo line {line}")).collect::<Vec<_>>().join("\n");
    let mut app = looked_at(vec![call(1, &[&cmd], ruled())], (80, 24));
    assert!(shown(&app).contains("more rows"));
    assert_eq!(decisions(&press(&mut app, &["y"])), []);
    assert_eq!(decisions(&press(&mut app, &["G", "y"])), [(1, Decision::Once)]);
}

#[test]
fn an_answer_before_the_end_says_where_the_keys_are_what_is_missing() {
    let cmd = (1..60).map(|line| format!("echo line {line}")).collect::<Vec<_>>().join("\n");
    let mut app = looked_at(vec![call(1, &[&cmd], ruled())], (80, 24));
    let below = |app: &App| {
        let screen = shown(app);
        let row = screen.lines().find(|line| line.contains(" more rows")).expect("rows below").to_owned();
        row.trim_matches(|c: char| c == '│' || c == ' ').to_owned()
    };
    assert!(below(&app).contains("Space read on"), "{}", below(&app));
    let before = below(&app);
    let many = before.split(' ').next().expect("a number");
    assert_eq!(decisions(&press(&mut app, &["y"])), []);
    assert_eq!(below(&app), format!("read to the end first: {many} more rows, Space"));
    let _ = press(&mut app, &["Space", "Space", "Space", "Space", "Space"]);
    assert_eq!(decisions(&press(&mut app, &["y"])), [(1, Decision::Once)]);
}

/// Directory and shell are told once where they are the same.
#[test]
fn twelve_held_commands_are_read_at_a_glance() {
    let cmds: Vec<String> = (1..=12).map(|at| format!("rm -r build/part-{at:02}")).collect();
    let cmds: Vec<&str> = cmds.iter().map(String::as_str).collect();
    let mut app = looked_at(vec![call(1, &cmds, ruled())], (80, 24));
    insta::assert_snapshot!("held_twelve_80x24", shown(&app));
    assert_eq!(decisions(&press(&mut app, &["y"])), [(1, Decision::Once)], "all of it was on screen");
    let mut other = call(1, &cmds, ruled());
    other.commands[3].workdir = "/".into();
    let mut app = looked_at(vec![other], (80, 24));
    assert_eq!(decisions(&press(&mut app, &["y"])), [], "each with its directory");
}

/// The card of `git push origin main` while its rule is being edited, on screen for a second.
fn ruling(size: (u16, u16)) -> App {
    let mut held = waiting(vec![call(1, &["git push origin main"], ruled())]);
    for (number, cmd) in [(20, "git push --tags"), (21, "git status"), (22, "git push")] {
        held.tasks.push(Arc::new(task(number, cmd, 9, 9)));
    }
    let mut app = open(held, size);
    let _ = press(&mut app, &["A"]);
    app.mark_drawn();
    later(&mut app, 1_000);
    let _ = press(&mut app, &["G", "w"]);
    app
}

fn widened(app: &mut App, keys: &[&str]) -> Vec<(u64, Decision)> {
    decisions(&press(app, keys))
}

fn prefix(words: &str) -> Vec<(u64, Decision)> {
    vec![(1, Decision::Prefix(Prefix::new(words).expect("a prefix")))]
}

#[test]
fn a_wider_yes_shows_what_it_lets_run_before_it_is_given() {
    for size in SIZES {
        insta::assert_snapshot!(format!("held_wider_{}x{}", size.0, size.1), shown(&ruling(size)));
    }
    let mut app = ruling((80, 24));
    assert_eq!(widened(&mut app, &["Enter"]), [], "not drawn yet");
    app.mark_drawn();
    later(&mut app, 200);
    assert_eq!(widened(&mut app, &["Enter"]), [], "not seen yet");
    later(&mut app, 200);
    assert_eq!(widened(&mut app, &["Enter"]), prefix("git push"));
    assert_eq!(widened(&mut app, &["y", "e", "Enter"]), [], "one answer is all there is");
}

#[test]
fn a_rule_that_was_changed_is_to_be_seen_anew() {
    let mut app = ruling((80, 24));
    app.mark_drawn();
    later(&mut app, 1_000);
    assert_eq!(widened(&mut app, &["Space", "o", "r", "i", "g", "i", "n", "Enter"]), []);
    assert!(!shown(&app).contains("run before"), "{}", shown(&app));
    app.mark_drawn();
    later(&mut app, 400);
    assert_eq!(widened(&mut app, &["Enter"]), prefix("git push origin"));
}

#[test]
fn a_rule_that_misses_the_call_or_is_none_is_not_given() {
    for (typed, said) in [("x", "does not begin so"), (";", "the first words of one command")] {
        let mut app = ruling((80, 24));
        let _ = press(&mut app, &[typed, "l", "s"]);
        app.mark_drawn();
        later(&mut app, 1_000);
        assert_eq!(widened(&mut app, &["Enter"]), []);
        assert!(shown(&app).contains(said), "{}", shown(&app));
        let _ = press(&mut app, &["Esc"]);
        app.mark_drawn();
        later(&mut app, 400);
        assert_eq!(widened(&mut app, &["y"]), [(1, Decision::Once)], "the card is as it was");
    }
    for (cmds, reason) in [
        (&["git push"][..], HoldReason::Paused),
        (&["git push", "git push"], ruled()),
        (&["git push && ls"], ruled()),
        (&["git push > log"], ruled()),
    ] {
        let mut app = looked_at(vec![call(1, cmds, reason)], (120, 40));
        assert!(!shown(&app).contains("about more"), "{}", shown(&app));
        let _ = press(&mut app, &["w"]);
        assert_eq!(widened(&mut app, &["Enter"]), [], "{cmds:?}");
    }
}

#[test]
fn a_wider_approval_is_refused_where_its_rule_does_not_fit_on_the_screen() {
    let mut app = ruling((60, 9));
    app.mark_drawn();
    later(&mut app, 1_000);
    assert_eq!(widened(&mut app, &["Enter"]), []);
    assert!(app.state.toasts.list().iter().any(|toast| toast.text.contains("too little room")));
}

#[test]
fn a_denial_takes_a_note_along() {
    let mut app = looked_at(vec![call(1, &["git push"], ruled())], (80, 24));
    let _ = press(&mut app, &["n"]);
    let _ = press(&mut app, &["n", "o", "t", "Space", "y"]);
    assert!(shown(&app).contains("why not? > not y"), "{}", shown(&app));
    assert_eq!(decisions(&press(&mut app, &["Enter"])), [(1, Decision::Deny { note: "not y".into() })]);
    let mut app = looked_at(vec![call(1, &["git push"], ruled())], (80, 24));
    assert_eq!(decisions(&press(&mut app, &["n", "x", "Esc", "Esc"])), []);
    assert!(app.layers.is_empty());
}

#[test]
fn a_key_pauses_and_goes_on_and_shows_first_what_waits_for_it() {
    let pauses = |effects: Vec<Effect>| -> Vec<bool> {
        effects
            .iter()
            .filter_map(|e| {
                if let Effect::Ask(Request { act: Act::Pause(on), .. }) = e { Some(*on) } else { None }
            })
            .collect()
    };
    let mut app = open(empty(), (80, 24));
    assert_eq!(pauses(press(&mut app, &["p"])), [true]);
    let mut app = open(waiting(vec![]), (80, 24));
    assert_eq!(pauses(press(&mut app, &["p"])), [false]);
    let mut app = open(waiting(vec![call(1, &["ls"], HoldReason::Paused)]), (80, 24));
    assert_eq!(pauses(press(&mut app, &["p"])), Vec::<bool>::new());
    assert!(matches!(app.layers.last(), Some(Layer::Approval(_))));
    app.mark_drawn();
    later(&mut app, 400);
    assert_eq!(pauses(press(&mut app, &["p"])), [false]);
}

#[test]
fn only_a_rule_can_be_answered_for_good() {
    let mut app = looked_at(vec![call(1, &["ls"], HoldReason::Paused)], (80, 24));
    assert_eq!(decisions(&press(&mut app, &["e"])), []);
    assert!(!shown(&app).contains("ask no more"));
}

#[test]
fn a_card_hides_nothing_and_draws_nothing_foreign() {
    let cmd = "curl -H 'Authorization: Bearer abc' x\u{202e}y\u{1b}[2J";
    let app = looked_at(vec![call(1, &[cmd], ruled())], (80, 24));
    let text = shown(&app);
    assert!(text.contains("contains hidden characters") && text.contains("⟨U+202E⟩"), "{text}");
    assert!(text.contains("Bearer abc"), "what runs is shown whole");
    assert_eq!(app.state.clock.now, now() + SignedDuration::from_secs(1));
}

#[test]
fn enter_on_a_task_that_waits_for_approval_shows_its_card() {
    let mut app = open(waiting(vec![call(1, &["git push origin main"], ruled())]), (80, 24));
    select(&mut app, 11);
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(app.held_call().map(|held| held.ticket), Some(1), "{}", shown(&app));
}

#[test]
fn a_denied_task_says_why_in_the_words_of_who_denied_it() {
    let mut state = waiting(Vec::new());
    let task = Arc::make_mut(state.tasks.last_mut().expect("a task"));
    task.held = None;
    task.events.push(event(3, Actor::Operator, TaskFact::Denied("not on a Friday".into())));
    *task = ended(task.clone(), TaskStatus::Cancelled, None, 3);
    let app = open(state, (120, 40));
    let row = shown(&app).lines().find(|row| row.contains("■ denied")).expect("a row").to_owned();
    assert!(row.contains("not on a Friday"), "{row}");
}

#[test]
fn held_calls_are_in_the_attention_list_and_enter_shows_their_card() {
    let held = vec![
        call(1, &["git push origin main"], ruled()),
        call(2, &["make", "make test"], HoldReason::Paused),
    ];
    for size @ (columns, rows) in SIZES {
        let mut app = open(waiting(held.clone()), size);
        let _ = press(&mut app, &["a"]);
        insta::assert_snapshot!(format!("held_attention_{columns}x{rows}"), shown(&app));
    }
    let mut app = open(waiting(held), (120, 40));
    let _ = press(&mut app, &["a", "j", "Enter"]);
    let card = matches!(app.layers.last(), Some(Layer::Approval(card)) if card.ticket == 2);
    assert!(card, "{}", shown(&app));
}

#[test]
fn the_selected_held_call_stays_selected_while_others_come_and_go() {
    let held = |tickets: &[u64]| {
        waiting(tickets.iter().map(|ticket| call(*ticket, &["git push"], ruled())).collect())
    };
    let card = |app: &App| match app.layers.last() {
        Some(Layer::Approval(card)) => Some(card.ticket),
        _ => None,
    };
    // A task that is waiting for input comes first.
    let mut app = open(held(&[1, 2, 3]), (120, 40));
    let _ = press(&mut app, &["a", "j", "j"]);
    let _ = app.update(Msg::Snapshot(Arc::new(held(&[2, 3]))));
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(card(&app), Some(2), "its row has moved up");

    let mut app = open(held(&[1, 2, 3]), (120, 40));
    let _ = press(&mut app, &["a", "j"]);
    let _ = app.update(Msg::Snapshot(Arc::new(held(&[2, 3]))));
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(card(&app), None, "what was meant is settled, and another was not meant");
    let _ = press(&mut app, &["Enter"]);
    assert_eq!(card(&app), Some(2));
}

#[test]
fn the_persons_program_is_run_once_for_each_thing_and_at_most_six_times_a_minute() {
    let told = |effects: Vec<Effect>| -> Vec<Notification> {
        let news = |effect| if let Effect::Notify(news) = effect { Some(news) } else { None };
        effects.into_iter().filter_map(news).collect()
    };
    let held = |tickets: std::ops::Range<u64>| {
        let calls = tickets.map(|ticket| call(ticket, &["git push"], ruled())).collect();
        Msg::Snapshot(Arc::new(waiting(calls)))
    };
    let mut app = open(waiting(Vec::new()), (80, 24));
    let _ = app.update(held(0..0));
    let _ = app.update(Msg::Focus(false));
    let news = told(app.update(held(0..1)));
    let expected = Notification {
        id: "held 0".into(),
        kind: "held",
        name: "t11".into(),
        what: "needs approval".into(),
        said: "git push".into(),
    };
    assert_eq!(news, [expected]);
    assert_eq!(told(app.update(held(0..1))), [], "once");
    assert_eq!(told(app.update(held(0..20))).len(), 5, "six a minute");
    later(&mut app, 60_000);
    assert_eq!(told(app.update(held(0..21))).len(), 1, "a minute later");
    let _ = app.update(Msg::Focus(true));
    assert_eq!(told(app.update(held(0..22))), [], "the person looks");
}

#[test]
fn the_notification_program_is_withdrawn_once_for_a_settled_item_that_it_was_run_for() {
    let withdrawn = |effects: Vec<Effect>| -> Vec<String> {
        let id = |effect| if let Effect::Withdraw(id) = effect { Some(id) } else { None };
        effects.into_iter().filter_map(id).collect()
    };
    let held = |tickets: &[u64]| {
        let calls = tickets.iter().map(|&ticket| call(ticket, &["git push"], ruled())).collect();
        Msg::Snapshot(Arc::new(waiting(calls)))
    };
    let mut app = open(waiting(Vec::new()), (80, 24));
    let _ = app.update(held(&[1]));
    let _ = app.update(Msg::Focus(false));
    assert!(withdrawn(app.update(held(&[1, 2, 3]))).is_empty());
    assert_eq!(withdrawn(app.update(held(&[1, 3, 4]))), ["held 2"]);
    let _ = app.update(Msg::Focus(true));
    assert_eq!(withdrawn(app.update(held(&[4]))), ["held 3"], "not for 1: it was seen, not told of");
    assert!(withdrawn(app.update(held(&[4]))).is_empty(), "once");
}
