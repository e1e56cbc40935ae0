//! A walk through every action there is, by keyboard alone: its name is typed into the palette, and then it
//! happens, or the console says why not. A new action does not compile until it is listed here.

use pilothouse::console::app::App;
use pilothouse::console::app::layer::Layer;
use pilothouse::console::keys::action::Action;
use pilothouse::console::msg::{Effect, Leave, Msg};
use pilothouse::console::state::focus::{Mode, Prompt, Screen};
use pilothouse::console::widgets::chooser::{Chooser, ListKind};
use pilothouse::link::{Act, Request};
use pilothouse::model::Subject;
use pilothouse::terminal::KeyPress;

use crate::console_fixture::{build, console, id, press, select, snapshot};
use crate::support::{Console, Home};

/// What is expected after an action has been chosen.
enum Seen {
    /// The console says why it does nothing.
    Why(&'static str),
    /// It has an effect outside the console.
    Does(fn(&Effect) -> bool),
    /// The console's state has changed.
    Is(fn(&App) -> bool),
}

/// Where it is tried: the selected task, and the keys that lead there.
struct Place(u32, &'static [&'static str]);

const ON_TASKS: Place = Place(7, &["1"]);

fn in_receipts() -> App {
    let mut app = console(snapshot(), (120, 40));
    let _ = press(&mut app, &["3", "g", "j", "j", "j", "j", "j"]);
    let _ = app.update(Msg::Record(std::sync::Arc::new(build())));
    let _ = press(&mut app, &["Tab"]);
    app
}

fn at(Place(number, keys): &Place) -> App {
    let mut app = if keys.first() == Some(&"3") { in_receipts() } else { console(snapshot(), (120, 40)) };
    app.state.setup.program = Some("/opt/pilothouse".into());
    app.state.setup.is_remote = true;
    if keys.first() != Some(&"3") {
        select(&mut app, *number);
        let _ = press(&mut app, keys);
    }
    app.state.toasts.say("hello", None, app.state.clock.now);
    app
}

fn list(app: &App) -> Option<&Chooser> {
    match app.layers.last() {
        Some(Layer::List(chooser)) => Some(chooser),
        _ => None,
    }
}

fn calls(tool: &'static str) -> impl Fn(&Effect) -> bool {
    move |effect| matches!(effect, Effect::Ask(Request { act: Act::Call { tool: called, .. }, .. }) if *called == tool)
}

const SELECTING: &str = "while selecting text: select";
const QUESTION: &str = "in the dialog of a question";
const CARD: &str = "on the card of a call: approvals";
const RECEIPTS: &str = "in receipts only";
const REPLAY: &str = "while a task is played again: replay";

/// Where each action is tried, and what it does there.
fn expected(action: Action) -> (Place, Seen) {
    use Seen::{Does, Is, Why};
    let here = |seen| (ON_TASKS, seen);
    let ended = |seen| (Place(4, &["1"]), seen);
    let reading = |seen| (Place(7, &["3"]), seen);
    match action {
        Action::Input => here(Is(|app| matches!(&app.state.focus.mode, Mode::Input(task) if *task == id(7)))),
        Action::SendLine => here(Is(
            |app| matches!(&app.state.focus.mode, Mode::Write(Prompt::Line(task), _) if *task == id(7)),
        )),
        Action::Leave => here(Why("nothing is typed into")),
        Action::Send | Action::SendOn | Action::Newline | Action::Raw => here(Why("while writing a line")),
        Action::Run => here(Why("while writing a command")),
        Action::Find => here(Why("while writing a search")),
        Action::Confirm => here(Why("when something is asked")),
        Action::Pause => {
            here(Does(|effect| matches!(effect, Effect::Ask(Request { act: Act::Pause(true), .. }))))
        }
        Action::TellAgent => here(Is(|app| matches!(app.layers.last(), Some(Layer::Tell(_))))),
        Action::Approvals => here(Why("no call needs approval")),
        Action::Approve | Action::ApproveExact | Action::ApproveWider | Action::Deny | Action::NextHeld => {
            here(Why(CARD))
        }
        Action::Attention => here(Is(|app| matches!(app.layers.last(), Some(Layer::Attention(_))))),
        Action::WhileAway => here(Why("you have not been away")),
        Action::LeftRunning => here(Why("no agent has gone and left anything running")),
        Action::AnswerQuestion | Action::NextPane => here(Why("on the program's screen")),
        Action::ApproveGate
        | Action::RejectGate
        | Action::Yes
        | Action::No
        | Action::RunAgain
        | Action::Skip
        | Action::Abort
        | Action::Note
        | Action::LetAgents => here(Why(QUESTION)),
        Action::ApproveTurn | Action::ApproveAlike => here(Why("on the card of an agent's prompt")),
        Action::ToAgent => here(Does(|effect| matches!(effect, Effect::GoToAgent { .. }))),
        Action::EndPermissions => here(Why("each prompt is asked about already")),
        // The palette's own actions: they open it, and choose in it.
        Action::Palette | Action::Choose => here(Is(|app| app.layers.is_empty())),
        Action::Start => here(Is(|app| matches!(app.state.focus.mode, Mode::Write(Prompt::Start, _)))),
        Action::Watch => here(Is(|app| matches!(app.state.focus.mode, Mode::Write(Prompt::Watch(_), _)))),
        Action::Restart => ended(Does(|effect| calls("ExecCommand")(effect))),
        Action::Stop => here(Is(
            |app| matches!(app.layers.last(), Some(Layer::Stop { task, kill: false }) if *task == id(7)),
        )),
        Action::Kill => here(Is(
            |app| matches!(app.layers.last(), Some(Layer::Stop { task, kill: true }) if *task == id(7)),
        )),
        Action::Signal => {
            here(Is(|app| matches!(app.layers.last(), Some(Layer::Signal(task)) if *task == id(7))))
        }
        Action::Interrupt
        | Action::Terminate
        | Action::HangUp
        | Action::QuitSignal
        | Action::User1
        | Action::User2 => here(Does(|effect| calls("TaskStop")(effect))),
        Action::Release => (
            Place(5, &["1"]),
            Does(
                |effect| matches!(effect, Effect::Ask(Request { subject: Subject::Task(task), act: Act::Release }) if *task == id(5)),
            ),
        ),
        Action::LetPass => here(Why("the task waits in no lane")),
        Action::Fit => here(Does(|effect| calls("TaskInput")(effect))),
        Action::Dismiss => ended(Is(|app| app.state.view.cleared.contains(&id(4)))),
        Action::ClearFinished => here(Is(|app| !app.state.view.cleared.is_empty())),
        Action::Undo => (Place(7, &["1", "C"]), Is(|app| app.state.view.cleared.is_empty())),
        Action::Filter => here(Is(|app| list(app).is_some_and(|list| list.kind == ListKind::Filters))),
        Action::ArrangeList => here(Is(|app| list(app).is_some_and(|list| list.kind == ListKind::Listing))),
        Action::Rename => here(Is(
            |app| matches!(&app.state.focus.mode, Mode::Write(Prompt::Rename(task), _) if *task == id(7)),
        )),
        Action::Replay => ended(Is(|app| app.state.replay.is_some())),
        Action::Play | Action::Faster | Action::Slower | Action::StepForward | Action::StepBack => {
            here(Why(REPLAY))
        }
        Action::Details => {
            here(Is(|app| matches!(app.layers.last(), Some(Layer::Why(task)) if *task == id(7))))
        }
        Action::Timeline => here(Why("no room for it here: focus shows it")),
        Action::CopyId => {
            here(Does(|effect| matches!(effect, Effect::Copy(text) if *text == id(7).to_string())))
        }
        Action::Up => here(Is(|app| app.state.selected_task().map(|task| task.number) == Some(8))),
        Action::Down => here(Is(|app| app.state.selected_task().map(|task| task.number) == Some(6))),
        Action::Top => here(Is(|app| app.state.selected_at() == Some(0))),
        Action::Bottom => {
            (Place(7, &["1"]), Is(|app| app.state.selected_at() == Some(app.state.tasks().len() - 1)))
        }
        Action::PageUp | Action::ScrollUp => here(Is(|app| app.state.reading.scroll.is_some())),
        Action::PageDown | Action::ScrollDown => here(Is(|app| app.state.reading.scroll.is_none())),
        Action::IntoPane => here(Is(|app| app.state.focus.in_pane)),
        Action::PanLeft => (Place(7, &["1", "L", "L"]), Is(|app| app.state.reading.pan < 32)),
        Action::PanRight => here(Is(|app| app.layers.is_empty())),
        Action::PreviousTask => here(Is(|app| app.state.selected_task().map(|task| task.number) == Some(8))),
        Action::NextTask => here(Is(|app| app.state.selected_task().map(|task| task.number) == Some(6))),
        Action::NextFailed => here(Is(|app| app.state.selected_task().map(|task| task.number) == Some(4))),
        Action::NextWaiting => {
            (Place(4, &["1"]), Is(|app| app.state.selected_task().map(|task| task.number) == Some(7)))
        }
        Action::Pin => here(Is(|app| app.state.division.pins == [id(7)])),
        Action::WidenList => here(Is(|app| app.state.division.split == 1)),
        Action::NarrowList => here(Is(|app| app.state.division.split == -1)),
        Action::Select => here(Is(|app| matches!(app.state.focus.mode, Mode::Copy(_)))),
        Action::SelectLines
        | Action::SelectBlock
        | Action::Yank
        | Action::Left
        | Action::Right
        | Action::LineStart
        | Action::LineEnd => here(Why(SELECTING)),
        Action::YankOutput => {
            here(Does(|effect| matches!(effect, Effect::LastOutput(task) if *task == id(7))))
        }
        Action::Search => here(Is(
            |app| matches!(&app.state.focus.mode, Mode::Write(Prompt::Search(task), _) if *task == id(7)),
        )),
        Action::Changes => {
            here(Does(|effect| matches!(effect, Effect::Ask(Request { act: Act::Changes, .. }))))
        }
        Action::Cost => here(Does(|effect| matches!(effect, Effect::Ask(Request { act: Act::Cost, .. })))),
        Action::UndoChanges => here(Why("the task has not ended")),
        Action::Timestamps => here(Is(|app| app.state.reading.timestamps.are_shown)),
        Action::SearchAll => {
            here(Is(|app| matches!(&app.state.focus.mode, Mode::Write(Prompt::SearchAll, _))))
        }
        Action::NextMatch | Action::PreviousMatch => here(Why("nothing was found")),
        Action::ModelSaw | Action::Share | Action::ShareSvg => here(Why(RECEIPTS)),
        Action::Compare | Action::NextFound | Action::PreviousFound => here(Why(RECEIPTS)),
        Action::Fold => here(Why("the task is of no batch")),
        Action::FindText => {
            here(Is(|app| matches!(app.state.focus.mode, Mode::Write(Prompt::FilterTasks, _))))
        }
        Action::PreviousPrompt => {
            here(Does(|effect| matches!(effect, Effect::Prompt { task, .. } if *task == id(7))))
        }
        Action::NextPrompt => here(Is(|app| {
            app.state.toasts.list().iter().any(|toast| toast.text == "the end is shown already")
        })),
        Action::NextPart | Action::PreviousPart => here(Why("in a text that has parts")),
        Action::NextColumn | Action::PreviousColumn => {
            reading(Is(|app| app.state.calls.column != pilothouse::console::state::calls::Column::Receipt))
        }
        Action::OpenTask => here(Why(RECEIPTS)),
        Action::SmallerBudget => reading(Is(|app| app.state.calls.budget.is_some())),
        Action::LargerBudget | Action::FullBudget => reading(Why("all of it is shown")),
        Action::CopyText => {
            reading(Does(|effect| matches!(effect, Effect::Copy(text) if text.contains("Compiling"))))
        }
        Action::Export => here(Is(|app| !app.layers.is_empty())),
        Action::ExportMetrics
        | Action::Screenshot
        | Action::ScreenshotHtml
        | Action::ScreenshotText
        | Action::ScreenshotAnsi => {
            here(Does(|effect| !matches!(effect, Effect::Remember(_) | Effect::Recordings)))
        }
        Action::Layouts => here(Is(|app| list(app).is_some_and(|list| list.kind == ListKind::Layouts))),
        Action::NextLayout => here(Is(|app| app.state.division.tiling.is_some())),
        Action::Zoom => here(Is(|app| app.state.division.is_zoomed)),
        Action::ShowTasks => (Place(7, &["4"]), Is(|app| app.state.focus.screen == Screen::Tasks)),
        Action::ShowFocus => here(Is(|app| app.state.focus.screen == Screen::Focus)),
        Action::ShowReceipts => here(Is(|app| app.state.focus.screen == Screen::Receipts)),
        Action::ShowMetrics => here(Is(|app| app.state.focus.screen == Screen::Metrics)),
        Action::ShowProgram => here(Is(|app| app.state.focus.screen == Screen::Program)),
        Action::PreviousProgram | Action::NextProgram => here(Why("there is no other program")),
        Action::Places => here(Is(|app| list(app).is_some_and(|list| list.kind == ListKind::Fleet))),
        Action::Messages => here(Is(|app| list(app).is_some_and(|list| list.kind == ListKind::Messages))),
        Action::Themes => {
            here(Is(|app| list(app).is_some_and(|list| matches!(list.kind, ListKind::Themes(_)))))
        }
        Action::EditSettings => here(Does(|effect| calls("ExecCommand")(effect))),
        Action::Suspend => here(Does(|effect| matches!(effect, Effect::Suspend))),
        Action::Mouse => here(Does(|effect| matches!(effect, Effect::Mouse(false)))),
        Action::Help => here(Is(|app| list(app).is_some_and(|list| list.kind == ListKind::Help("tasks")))),
        Action::Back => (Place(7, &["4"]), Is(|app| app.state.toasts.list().is_empty())),
        Action::Detach => here(Does(|effect| matches!(effect, Effect::Quit(Leave::Detach)))),
        // It asks first: whoever chose it from a list may have meant the next row.
        Action::StopAll => here(Is(|app| matches!(app.layers.last(), Some(Layer::Quit)))),
        Action::Quit => here(Is(|app| matches!(app.layers.last(), Some(Layer::Quit)))),
    }
}

/// Types `:`, the name and Enter; returns the effects, and why nothing happened if so.
fn choose(app: &mut App, action: Action) -> (Vec<Effect>, Option<String>) {
    let _ = press(app, &[":"]);
    for letter in action.name().chars() {
        let key = KeyPress::parse(&letter.to_string()).expect("a key");
        let _ = app.update(Msg::Key(key));
    }
    let why = list(app).and_then(|list| list.selected_item()).and_then(|item| item.obstacle.clone());
    let effects = press(app, &["Enter"]);
    if why.is_some() {
        let _ = press(app, &["Esc"]);
    }
    (effects, why)
}

#[test]
fn every_action_does_what_it_says_or_says_why_not() {
    let mut wrong = Vec::new();
    for &action in Action::ALL {
        if matches!(action, Action::Palette | Action::Choose) {
            continue;
        }
        let (place, seen) = expected(action);
        let mut app = at(&place);
        let (effects, why) = choose(&mut app, action);
        let holds = match &seen {
            Seen::Why(reason) => why.as_deref() == Some(*reason),
            Seen::Does(does) => why.is_none() && effects.iter().any(does),
            Seen::Is(is) => why.is_none() && is(&app),
        };
        if !holds {
            let effects: Vec<String> =
                effects.iter().map(|effect| format!("{effect:?}").chars().take(60).collect()).collect();
            wrong.push(format!(
                "{}: {why:?} {effects:?} {:?} {:?}",
                action.name(),
                app.state.focus.screen,
                app.state.selected_at()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_main_actions_are_reached_by_name_in_a_real_terminal() {
    let home = Home::new();
    let mut console = Console::open(&home, &[], (100, 30));
    console.shows("no agent yet");
    console.keys(b":start\r");
    console.shows("START");
    console.keys(b"sleep 600\r");
    console.shows("INPUT t01");
    console.keys(b"\x1d");
    console.shows("OBSERVE");
    for (name, shows, is_left) in [
        ("metrics", "LIMITS", false),
        ("show-receipts", "RESULT", false),
        ("show-tasks", "IDLE", false),
        ("details", "DETAILS", true),
        ("rename", "NAME", true),
        ("help", "HELP", true),
        ("themes", "CHOOSE", true),
        ("attention", "ATTENTION", true),
        ("stop", "STOP?", true),
    ] {
        console.keys(format!(":{name}\r").as_bytes());
        // A frame may arrive in pieces, the mode last.
        console.wait_for(shows, |screen| {
            let text = screen.contents();
            text.contains(shows) && text.contains("OBSERVE") != is_left
        });
        if is_left {
            // An Esc and a key that arrive together are one key with Alt.
            console.keys(b"\x1b");
            console.shows("OBSERVE");
        }
    }
    console.keys(b":quit\r");
    console.shows("stop all");
    console.keys(b"s");
    assert_eq!(console.exit(), 0);
}
