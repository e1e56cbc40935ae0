//! The console in the process of the test: its decisions, what it asks for and what it draws are the program's own,
//! joined to a runtime; what is missing is the process and its terminal.

use std::sync::Arc;

use pilothouse::clock::Clock;
use pilothouse::console::app::App;
use pilothouse::console::io::effects::ask;
use pilothouse::console::keys::decode::{KeyDecoder, TerminalInput};
use pilothouse::console::msg::{Effect, Leave, Msg};
use pilothouse::console::theme::Colours;
use pilothouse::envelope::TaskId;
use pilothouse::link::{Operator, Request};
use pilothouse::model::{PlaceId, Snapshot};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::{Home, wait_until_or};
use crate::console_fixture::{setup, shown};

/// A console, and a stand-in for the person in front of it. It goes on only while that person types or looks.
pub(crate) struct Desk {
    app: App,
    /// How the person has left, once they have.
    pub(crate) left: Option<Leave>,
    operator: Operator,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    visible: Vec<TaskId>,
    decoder: KeyDecoder,
    clock: Clock,
    threads: Runtime,
}

/// What the terminal sent, as the console hears it.
pub(crate) fn heard(sent: TerminalInput) -> Option<Msg> {
    Some(match sent {
        TerminalInput::Key(key) => Msg::Key(key),
        TerminalInput::Mouse(mouse) => Msg::Mouse(mouse),
        TerminalInput::Paste(text) => Msg::Paste(text),
        TerminalInput::PasteTrouble(trouble) => Msg::PasteTrouble(trouble),
        TerminalInput::Focus(has_focus) => Msg::Focus(has_focus),
        TerminalInput::Answer(_) | TerminalInput::PasteBegins => return None,
    })
}

impl Desk {
    /// Attaches to the runtime of a workspace; if there is none, one begins in this process.
    #[track_caller]
    pub(crate) fn open(home: &Home, size: (u16, u16)) -> Self {
        home.serve_here();
        let (socket, workspace) = (home.places().operator_socket(), home.workspace());
        let threads = threads();
        let attached = threads.block_on(Operator::attach(&socket, workspace));
        Self::on(threads, attached.expect("attaches"), size)
    }

    /// Holds the runtime of a workspace itself, as a console does that began it.
    #[track_caller]
    pub(crate) fn inside(home: &Home, size: (u16, u16)) -> Self {
        home.serve_here();
        let threads = threads();
        let inside = threads.enter();
        let operator = Operator::local(home.in_process().runtime(), home.workspace());
        drop(inside);
        Self::on(threads, operator, size)
    }

    fn on(threads: Runtime, operator: Operator, size: (u16, u16)) -> Self {
        let inside = threads.enter();
        let clock = Clock::start();
        let mut snapshots = operator.snapshot();
        let first = Arc::clone(&snapshots.borrow_and_update());
        let mut setup = setup(Colours::Named);
        setup.is_fleet = operator.fleet().is_some();
        let mut app = App::new(setup, first, size, clock.now().wall);
        app.mark_drawn();
        drop(inside);
        let (left, visible, decoder) = (None, Vec::new(), KeyDecoder::default());
        Self { app, left, operator, snapshots, visible, decoder, clock, threads }
    }

    /// Types keys, all before the next frame.
    pub(crate) fn keys(&mut self, keys: &[u8]) {
        self.step();
        let sent = self.decoder.feed(self.clock.now().mono, keys);
        self.hear(sent);
        self.step();
    }

    /// Waits until the screen satisfies `fact`.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, what: &str, fact: impl Fn(&str) -> bool) {
        let seen = std::cell::RefCell::new(String::new());
        wait_until_or(
            || format!("{what}; the screen shows:\n{}\n", seen.borrow()),
            || {
                self.step();
                *seen.borrow_mut() = shown(&self.app);
                fact(&seen.borrow())
            },
        );
    }

    /// Waits until the screen shows `text`.
    #[track_caller]
    pub(crate) fn shows(&mut self, text: &str) {
        self.wait_for(&format!("{text:?}"), |screen| screen.contains(text));
    }

    /// Sends a key again until the screen shows `text`: it counts only once there was time to read what it answers.
    #[track_caller]
    pub(crate) fn asks_until(&mut self, key: &[u8], text: &str) {
        super::wait_until(text, || {
            self.step();
            if !shown(&self.app).contains(text) {
                self.keys(key);
            }
            shown(&self.app).contains(text)
        });
    }

    /// The text of the screen.
    pub(crate) fn text(&mut self) -> String {
        self.step();
        shown(&self.app)
    }

    /// Takes all news, and draws.
    fn step(&mut self) {
        self.take(Msg::Tick(self.clock.now().wall));
        let late = self.decoder.time_out(self.clock.now().mono);
        self.hear(late);
        while self.snapshots.has_changed().unwrap_or(false) {
            let published = self.operator.of_others(&self.snapshots.borrow_and_update());
            self.take(Msg::Snapshot(published));
        }
        for task in self.visible.clone() {
            let pictures = &mut self.app.state.view.pictures;
            let last = pictures.get(&task).map(|picture| picture.generation);
            let generation = self.operator.screen_generation(&task).filter(|now| last != Some(*now));
            if let Some((generation, screen)) = generation.zip(self.operator.screen(&task)) {
                let mut picture = pictures.remove(&task).unwrap_or_default();
                picture.take(&screen, generation);
                self.take(Msg::Picture(task, picture));
            }
        }
        self.app.mark_drawn();
    }

    fn hear(&mut self, sent: Vec<TerminalInput>) {
        sent.into_iter().filter_map(heard).for_each(|msg| self.take(msg));
    }

    fn take(&mut self, msg: Msg) {
        for effect in self.app.update(msg) {
            match effect {
                Effect::Ask(request) => self.ask(None, request),
                Effect::AskAt(place, request) => self.ask(Some(&place), request),
                Effect::Show(shown) => {
                    self.visible.clone_from(&shown.visible);
                    let _inside = self.threads.enter();
                    self.operator.show(shown);
                }
                Effect::Quit(leave) => self.left = Some(leave),
                // Of its terminal, files and settings.
                _ => {}
            }
        }
    }

    /// Asks the runtime, and waits for what that results in.
    fn ask(&mut self, place: Option<&PlaceId>, request: Request) {
        let result = self.threads.block_on(ask(&self.operator, place, request));
        result.into_iter().for_each(|msg| self.take(msg));
    }
}

fn threads() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().expect("threads")
}
