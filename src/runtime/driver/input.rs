//! Sends input to a task: the supervisor admits it, the terminal's modes determine its encoding, and the input queue
//! takes it.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Driver;
use crate::envelope::{Actor, TaskId};
use crate::model::phrases::past_input_sentence;
use crate::model::{
    Error, InputOutcome, InputRejection, InputTarget, LostInput, MOST_INPUT, RejectionReason, TaskView,
    TypedInput,
};
use crate::runtime::bytes::{InputRefusal, MOST_LINE, TaskIo};
use crate::runtime::record_row::Fact;
use crate::runtime::supervisor;
use crate::terminal::{self, KeyPress, Modes};

/// How many bytes may wait to be read by all tasks together, and by one task whatever waits for the others.
const ALL_INPUT: usize = 16 << 20;
const SURE_INPUT: usize = 64 << 10;
/// How often a terminal is looked at that replies wait for, and how many times.
const REPLY_LOOK: Duration = Duration::from_millis(20);
const REPLY_LOOKS: u32 = 50;
/// The end-of-file character for a terminal that has none set.
const CTRL_D: u8 = 4;

/// Sends `input`, or returns the reason for a rejection; only unknown tasks and impossible input are errors.
pub(super) fn input(
    driver: &mut Driver,
    by: &Actor,
    id: &TaskId,
    input: TypedInput,
) -> Result<InputOutcome, Error> {
    let Some(task) = driver.supervisor.get(id) else {
        let ended = driver.tasks.get(id).cloned().ok_or_else(|| Error::UnknownTask(id.clone()))?;
        let reason = RejectionReason::TaskNotRunning;
        driver.shared.note(&Fact::Refused { task: Cow::Borrowed(id), actor: Cow::Borrowed(by), reason });
        return Ok(to_past(ended));
    };
    let target = target(task.request.tty || task.side_terminal, task.request.accepts_input);
    let needs_tty = matches!(
        input,
        TypedInput::Keys(_) | TypedInput::TextThenKeys(..) | TypedInput::Resize(_) | TypedInput::Report(_)
    );
    let is_typed = !matches!(input, TypedInput::Report(_));
    let admitted = driver.supervisor.admit(driver.now(), id, by, needs_tty);
    driver.tell_lost_input(id);
    let io = driver.live.get(id).map(|live| live.io.clone());
    let sent = match (admitted, io) {
        (Err(rejection), _) => Err(rejection),
        (Ok(()), None) => Err(end_rejection()),
        (Ok(()), Some(io)) => send(driver, by, &io, input)?,
    };
    let (accepted, bytes_written, rejection) = match sent {
        Ok(bytes) => (true, bytes, None),
        Err(rejection) => {
            let reason = rejection.reason;
            if is_typed {
                driver.step(supervisor::SupervisorInput::Refused { id: id.clone(), by: by.clone(), reason });
            }
            (false, 0, Some(rejection))
        }
    };
    let task = driver.view(id).ok_or_else(|| Error::UnknownTask(id.clone()))?;
    Ok(InputOutcome { accepted, target, bytes_written, rejection, task })
}

fn send(
    driver: &mut Driver,
    by: &Actor,
    io: &TaskIo,
    input: TypedInput,
) -> Result<Result<u64, InputRejection>, Error> {
    let id = io.id.clone();
    let is_typed = !matches!(input, TypedInput::Report(_));
    let bytes = match input {
        TypedInput::Resize(size) => {
            // Resize the screen first: the command redraws as soon as its terminal has the new size.
            io.resize(size);
            if let Some(pty) = io.pty.get()
                && let Err(error) = pty.resize(size)
            {
                if let Ok(size) = pty.size() {
                    io.resize(size);
                }
                return Err(Error::io("resize the terminal of", id.as_str())(error));
            }
            // What it draws now is no sign that it was at work.
            if let Some(live) = driver.live.get_mut(&id) {
                live.looks.again();
            }
            driver.step(supervisor::SupervisorInput::Resized { id, by: by.clone(), size });
            return Ok(Ok(0));
        }
        TypedInput::Eof if io.pty.get().is_none() => {
            let ended = io.queue_close().map_or_else(refuse, |()| Ok(Ok(0)));
            driver.shared.pump.write(&id);
            return ended;
        }
        TypedInput::Eof => vec![end_of_file(io)],
        TypedInput::Text(text) => lines_of(io, text),
        TypedInput::Raw(bytes) | TypedInput::Report(bytes) => bytes,
        TypedInput::Keys(keys) => encode(io, keys),
        TypedInput::TextThenKeys(text, keys) => [lines_of(io, text), encode(io, keys)].concat(),
        TypedInput::Paste(text) => terminal::paste(&text, modes(io)),
    };
    if let Err(rejection) = queue(driver, io, &bytes)? {
        return Ok(Err(rejection));
    }
    if io.write_queued() {
        driver.shared.pump.note_input(&id);
    } else {
        driver.shared.pump.write(&id);
    }
    let count = bytes.len() as u64;
    if !is_typed {
        return Ok(Ok(count));
    }
    if let Some(live) = driver.live.get_mut(&id) {
        live.typed_bytes += count;
        live.looks.again();
    }
    driver.step(supervisor::SupervisorInput::Typed { id: id.clone(), by: by.clone(), bytes: count });
    driver.note_asking(&id);
    Ok(Ok(count))
}

impl Driver {
    /// Sends a task replies to its queries as soon as its terminal neither echoes them nor waits for the end of a line: a
    /// program may ask before it prepares the terminal. After a second, nobody has asked: the queries were part of a file.
    pub(super) fn reply_once_awaited(&self, id: &TaskId, bytes: Vec<u8>) {
        let Some(io) = self.live.get(id).map(|live| live.io.clone()) else { return };
        let shared = self.shared.clone();
        tokio::spawn(async move {
            // The kernel reports no change of a terminal's modes.
            for _ in 0..REPLY_LOOKS {
                tokio::time::sleep(REPLY_LOOK).await;
                if !io.echoes_lines() {
                    if io.queue_reply(&bytes) {
                        shared.pump.write(&io.id);
                    }
                    break;
                }
            }
            io.has_early_reply.store(false, Ordering::Relaxed);
        });
    }
}

/// Returns the bytes of a text. To a terminal, CR LF is one end of a line: it would answer two questions.
fn lines_of(io: &TaskIo, text: String) -> Vec<u8> {
    if io.pty.get().is_some() { text.replace("\r\n", "\r").into_bytes() } else { text.into_bytes() }
}

fn encode(io: &TaskIo, keys: Vec<KeyPress>) -> Vec<u8> {
    let modes = modes(io);
    keys.into_iter().flat_map(|key| key.encode(modes)).collect()
}

/// Queues the bytes, which are written as the task reads them.
fn queue(driver: &Driver, io: &TaskIo, bytes: &[u8]) -> Result<Result<(), InputRejection>, Error> {
    let length = bytes.len();
    if length > MOST_INPUT + terminal::MARKERS {
        let message = format!("The input has {length} bytes; a task takes at most {MOST_INPUT} at once.");
        return Ok(Err(InputRejection { reason: RejectionReason::InputTooLong, message }));
    }
    if io.waiting_input() + length > SURE_INPUT {
        let all: usize = driver.live.values().map(|live| live.io.waiting_input()).sum();
        if all + length > ALL_INPUT {
            return Ok(Err(backlog_rejection(all, "all tasks", ALL_INPUT)));
        }
    }
    io.queue(bytes).map_or_else(refuse, |()| Ok(Ok(())))
}

/// Says why input was not queued.
fn refuse<T>(refusal: InputRefusal) -> Result<Result<T, InputRejection>, Error> {
    let closed = |message: &str| {
        Ok(Err(InputRejection { reason: RejectionReason::InputClosed, message: message.to_owned() }))
    };
    match refusal {
        InputRefusal::Full { waiting } => Ok(Err(backlog_rejection(waiting, "the task", MOST_INPUT))),
        InputRefusal::LongLine { length, is_begun } => {
            Err(Error::InputLineTooLong { length, limit: MOST_LINE, is_begun })
        }
        InputRefusal::Ended => closed("Its input was ended with `eof` before."),
        InputRefusal::NoReader => closed("No process has its standard input open any more."),
    }
}

fn target(tty: bool, accepts_input: bool) -> Option<InputTarget> {
    match (tty, accepts_input) {
        (true, _) => Some(InputTarget::Tty),
        (false, true) => Some(InputTarget::Stdin),
        (false, false) => None,
    }
}

fn modes(io: &TaskIo) -> Modes {
    io.screen.read(crate::terminal::Terminal::modes).unwrap_or_default()
}

fn end_of_file(io: &TaskIo) -> u8 {
    let mode = io.pty.get().and_then(|pty| pty.input_mode().ok());
    mode.and_then(|mode| mode.eof).unwrap_or(CTRL_D)
}

impl Driver {
    /// Notes what has been lost of a task's input.
    pub(super) fn tell_lost_input(&mut self, id: &TaskId) {
        let lost = self.live.get(id).map(|live| live.io.take_lost());
        self.note_lost_input(id, lost.unwrap_or_default());
    }

    /// Notes input that a task has lost: at most as much as was sent through the runtime.
    pub(super) fn note_lost_input(&mut self, id: &TaskId, lost: Vec<LostInput>) {
        let Some(typed) = self.live.get(id).map(|live| live.typed_bytes) else { return };
        for lost in lost {
            let lost = LostInput { bytes: lost.bytes.min(typed), ..lost };
            if lost.bytes > 0 {
                self.step(supervisor::SupervisorInput::InputLost { id: id.clone(), lost });
            }
        }
    }
}

/// Rejects input to a task that has ended.
pub(in crate::runtime) fn to_past(task: Arc<TaskView>) -> InputOutcome {
    let message = past_input_sentence(task.status);
    InputOutcome {
        accepted: false,
        target: target(task.tty || task.side_terminal, task.accepts_input),
        bytes_written: 0,
        rejection: Some(InputRejection { reason: RejectionReason::TaskNotRunning, message }),
        task,
    }
}

fn end_rejection() -> InputRejection {
    InputRejection {
        reason: RejectionReason::TaskNotRunning,
        message: "The task has just ended; read its end with TaskOutput.".into(),
    }
}

fn backlog_rejection(waiting: usize, whose: &str, most: usize) -> InputRejection {
    let message = format!(
        "{waiting} bytes that were sent to {whose} before have not been read, and at most {most} may wait; retry when \
         they have been read."
    );
    InputRejection { reason: RejectionReason::InputBacklogged, message }
}
