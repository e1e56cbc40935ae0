//! The two threads that wait on the terminal: one reads keys, one watches for its end.

use std::fs::File;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crossterm::event::{self, Event, KeyModifiers, MouseButton as Button, MouseEvent, MouseEventKind};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::stdio::dup2_stdin;
use tokio::sync::mpsc;

use crate::terminal::{MouseButton, MouseInput, MouseKind};

use super::super::keys::from_crossterm;
use super::super::msg::Msg;
use super::tty;

/// Keys that may wait for the loop.
const KEYS_AHEAD: usize = 256;
/// How long the end may take once the terminal is gone.
const LAST_WORDS: Duration = Duration::from_secs(8);

/// What the terminal has to say.
#[derive(Debug)]
pub(in crate::console) enum Heard {
    /// A key, the mouse, a paste, the focus.
    Msg(Msg),
    /// The terminal is gone.
    Gone,
}

/// Ends the wait for a slow end when dropped: the end has come.
pub(in crate::console) struct Ended {
    _alive: SyncSender<()>,
}

/// Starts both threads. They end with the process: a blocking read cannot be called back.
///
/// # Errors
/// When a thread cannot be started.
pub(in crate::console) fn listen(tty: &File) -> io::Result<(mpsc::Receiver<Heard>, Ended)> {
    let (heard, keys) = mpsc::channel(KEYS_AHEAD);
    let (alive, dead) = sync_channel(0);
    let (tty, gone) = (tty.try_clone()?, heard.clone());
    std::thread::Builder::new().name("keys".into()).spawn(move || read_keys(&heard))?;
    std::thread::Builder::new().name("tty".into()).spawn(move || {
        tty::wait_until_gone(&tty);
        tty::forget();
        if let Err(error) = lull_reader() {
            tracing::warn!(%error, "the reader of keys spins until the end");
        }
        // A full queue means that the loop has keys to read and then sees the signal, or the deadline.
        let _ = gone.try_send(Heard::Gone);
        if dead.recv_timeout(LAST_WORDS) == Err(RecvTimeoutError::Timeout) {
            end_now();
        }
    })?;
    Ok((keys, Ended { _alive: alive }))
}

/// On a terminal that is gone crossterm's reader spins: from here on it waits at a pipe for a byte that
/// never comes.
fn lull_reader() -> rustix::io::Result<()> {
    let (silent, open) = pipe_with(PipeFlags::CLOEXEC)?;
    dup2_stdin(&silent)?;
    // Closed, it would be an end of file, and the reader would spin on that.
    std::mem::forget(open);
    Ok(())
}

/// The tasks' hosts see the console die and end their tasks; the journal has been written all along.
#[expect(clippy::disallowed_methods, reason = "the dead-terminal path: crossterm would spin on it for ever")]
fn end_now() {
    std::process::exit(129);
}

fn read_keys(heard: &mpsc::Sender<Heard>) {
    loop {
        let next = match event::read() {
            Ok(event) => translate(event).map(Heard::Msg),
            Err(_) => Some(Heard::Gone),
        };
        let is_gone = matches!(next, Some(Heard::Gone));
        if let Some(next) = next
            && heard.blocking_send(next).is_err()
        {
            return;
        }
        if is_gone {
            return;
        }
    }
}

fn translate(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) => from_crossterm(key).map(Msg::Key),
        Event::Mouse(mouse) => Some(Msg::Mouse(translate_mouse(mouse))),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::FocusGained => Some(Msg::Focus(true)),
        Event::FocusLost => Some(Msg::Focus(false)),
        // Sizes come with SIGWINCH, of which storms are gathered.
        Event::Resize(..) => None,
    }
}

fn translate_mouse(event: MouseEvent) -> MouseInput {
    let button = |button| match button {
        Button::Left => MouseButton::Left,
        Button::Right => MouseButton::Right,
        Button::Middle => MouseButton::Middle,
    };
    let kind = match event.kind {
        MouseEventKind::Down(which) => MouseKind::Press(button(which)),
        MouseEventKind::Up(which) => MouseKind::Release(button(which)),
        MouseEventKind::Drag(which) => MouseKind::Drag(button(which)),
        MouseEventKind::Moved => MouseKind::Move,
        MouseEventKind::ScrollUp => MouseKind::ScrollUp,
        MouseEventKind::ScrollDown => MouseKind::ScrollDown,
        MouseEventKind::ScrollLeft => MouseKind::ScrollLeft,
        MouseEventKind::ScrollRight => MouseKind::ScrollRight,
    };
    let held = |flag| event.modifiers.contains(flag);
    MouseInput {
        kind,
        row: event.row,
        col: event.column,
        shift: held(KeyModifiers::SHIFT),
        alt: held(KeyModifiers::ALT),
        ctrl: held(KeyModifiers::CONTROL),
    }
}
