//! Sends input to a task: the supervisor admits it, the terminal's modes determine its encoding, and the input queue
//! takes it.

use std::borrow::Cow;
use std::sync::Arc;

use super::Driver;
use crate::envelope::{Actor, TaskId};
use crate::model::{
    Error, InputOutcome, InputRejection, InputTarget, MOST_INPUT, RejectionReason, TaskView, TypedInput,
};
use crate::runtime::bytes::TaskIo;
use crate::runtime::record_row::Fact;
use crate::runtime::supervisor;
use crate::terminal::{self, Modes};

/// The longest line that a terminal in canonical mode accepts; the kernel silently truncates longer ones.
const CANONICAL_LINE: usize = 4_095;
/// How many bytes may wait to be read by all tasks together, and by one task whatever waits for the others.
const ALL_INPUT: usize = 16 << 20;
const SURE_INPUT: usize = 64 << 10;
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
    let needs_tty = matches!(input, TypedInput::Keys(_) | TypedInput::Resize(_) | TypedInput::Report(_));
    let is_typed = !matches!(input, TypedInput::Report(_));
    let admitted = driver.supervisor.admit(driver.now(), id, by, needs_tty);
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
            driver.step(supervisor::SupervisorInput::Resized { id, by: by.clone(), size });
            return Ok(Ok(0));
        }
        TypedInput::Eof if io.pty.get().is_none() => {
            io.queue_close();
            driver.shared.pump.write(&id);
            return Ok(Ok(0));
        }
        TypedInput::Eof => vec![end_of_file(io)],
        TypedInput::Text(text) => text.into_bytes(),
        TypedInput::Raw(bytes) | TypedInput::Report(bytes) => bytes,
        TypedInput::Keys(keys) => {
            let modes = modes(io);
            keys.into_iter().flat_map(|key| key.encode(modes)).collect()
        }
        TypedInput::Paste(text) => terminal::paste(&text, modes(io)),
    };
    refuse_long_lines(io, &bytes)?;
    if let Err(rejection) = queue(driver, io, &bytes) {
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
    driver.step(supervisor::SupervisorInput::Typed { id, by: by.clone(), bytes: count });
    Ok(Ok(count))
}

/// Queues the bytes, which are written as the task reads them.
fn queue(driver: &Driver, io: &TaskIo, bytes: &[u8]) -> Result<(), InputRejection> {
    let length = bytes.len();
    if length > MOST_INPUT + terminal::MARKERS {
        let message = format!("The input has {length} bytes; a task takes at most {MOST_INPUT} at once.");
        return Err(InputRejection { reason: RejectionReason::InputTooLong, message });
    }
    if io.unread_input() + length > SURE_INPUT {
        let all: usize = driver.live.values().map(|live| live.io.unread_input()).sum();
        if all + length > ALL_INPUT {
            return Err(backlog_rejection(all, "all tasks", ALL_INPUT));
        }
    }
    io.queue(bytes).map_err(|full| backlog_rejection(full.waiting, "the task", MOST_INPUT))
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

/// Refuses lines over the kernel's limit, which would be silently truncated while the write succeeds (measured).
fn refuse_long_lines(io: &TaskIo, bytes: &[u8]) -> Result<(), Error> {
    let canonical = io.pty.get().and_then(|pty| pty.input_mode().ok()).is_some_and(|mode| mode.canonical);
    let longest = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).map(<[u8]>::len).max().unwrap_or(0);
    if canonical && longest > CANONICAL_LINE {
        return Err(Error::InputLineTooLong { length: longest, limit: CANONICAL_LINE });
    }
    Ok(())
}

/// Rejects input to a task that has ended.
pub(in crate::runtime) fn to_past(task: Arc<TaskView>) -> InputOutcome {
    let message = format!("The task is {}; nothing reads its input any more.", task.status.as_str());
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
