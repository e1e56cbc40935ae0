//! How a task ended, and who or what ended it.

use std::borrow::Cow;
use std::fmt;

use crate::{CeilingHit, StopSignal, TaskEnd, TaskFact, TaskStatus, TaskView};
use pilothouse_envelope::units::{exact, millis};
use pilothouse_envelope::{Actor, ErrorKind, one_line};

/// The maximum length of somebody else's words in a clause, in characters.
const WHY_CHARS: usize = 160;

/// Says how a shell exited: `exit 3`, `SIGKILL`.
pub fn exit_word(status: Option<impl fmt::Display>, signal: Option<&str>) -> Option<String> {
    signal.map(str::to_owned).or_else(|| Some(format!("exit {}", status?)))
}

/// Says the same of a command: `exited with code 3`, `terminated by SIGKILL`.
pub fn exit_clause(status: Option<impl fmt::Display>, signal: Option<&str>) -> String {
    match (status, signal) {
        (Some(status), _) => format!("exited with code {status}"),
        (None, Some(signal)) => format!("terminated by {signal}"),
        (None, None) => "ended without a status".to_owned(),
    }
}

/// Says that the time of a whole batch ended one of its commands.
pub fn deadline_clause(ms: u64) -> String {
    format!("ended by the batch's deadline ({})", exact(ms))
}

/// Says who stopped a task.
pub fn stop_clause(by: &Actor) -> String {
    format!("stopped by {by}")
}

/// Says that the operator denied a command, and in which words.
pub fn denial_phrase(note: &str) -> String {
    match note.trim() {
        "" => "denied".to_owned(),
        note => format!("denied: {note}"),
    }
}

/// Says the same in a sentence, to the agent whose command it was.
pub fn denial_sentence(note: &str) -> String {
    match note.trim() {
        "" => "The operator denied this.".to_owned(),
        note => format!("The operator denied this: {note}"),
    }
}

/// Says how many processes of a task could not be ended.
pub fn unended_word(count: usize) -> String {
    format!("{count} not ended")
}

impl TaskEnd {
    /// Says how the shell exited, or that it did not start.
    pub fn word(&self) -> Cow<'static, str> {
        match exit_word(self.exit_status, self.signal.as_deref()) {
            _ if self.timed_out => "timed out".into(),
            Some(exit) => one_line(&exit, WHY_CHARS).into(),
            None if self.failed_with(ErrorKind::StartUnknown) => "unknown".into(),
            None if self.failed_with(ErrorKind::InternalError) => "lost".into(),
            None => "not started".into(),
        }
    }

    /// Says what its error is, in the few words that a row has room for.
    pub fn error_word(&self) -> Option<Cow<'_, str>> {
        let (kind, message) = self.error.as_ref()?;
        Some(match ErrorKind::ALL.iter().find(|one| one.as_str() == kind) {
            Some(ErrorKind::OutputLimitExceeded) => "output limit".into(),
            Some(ErrorKind::StartUnknown) => "may have run".into(),
            Some(ErrorKind::InternalError) => "its host is gone".into(),
            // The operating system's words come last.
            Some(ErrorKind::CommandSpawnFailed) => {
                let words = message.rsplit(": ").next().unwrap_or(message);
                words.split(" (os error").next().unwrap_or(words).into()
            }
            _ => message.into(),
        })
    }
}

impl TaskView {
    /// Says how it ended: by a ceiling, or as its shell did.
    pub(super) fn end_word(&self) -> Cow<'static, str> {
        match (self.ceiling.filter(CeilingHit::is_end), &self.ended) {
            (Some(hit), Some(_)) if self.status == TaskStatus::Failed => hit.kind.word().into(),
            (_, Some(ended)) => ended.word(),
            (_, None) => self.status.as_str().into(),
        }
    }

    /// Says how it ended, and why: `exit 1`, `stopped by operator: wrong branch`. `None` until it has ended.
    pub fn end_clause(&self) -> Option<String> {
        let ended = self.ended.as_ref()?;
        if let Some((_, message)) = &ended.error {
            return Some(one_line(message.trim_end_matches('.'), WHY_CHARS));
        }
        Some(match (self.cause(), self.signal_before_end()) {
            // A cause names no signal but that of the runtime.
            (Some(cause), _) if ended.signalled_by.is_some() => {
                format!("{} ({})", ended.word(), one_line(&cause, WHY_CHARS))
            }
            (Some(cause), _) => one_line(&cause, WHY_CHARS),
            (None, Some((by, signal))) => format!("{} ({} by {by})", ended.word(), <&str>::from(signal)),
            (None, None) => self.word().into_owned(),
        })
    }

    /// Describes briefly how the task ended: `exit 1 after 3 s`, `stopped by operator: "wrong branch"`.
    #[must_use]
    pub fn end_in_words(&self) -> String {
        let Some(end) = self.end_clause() else { return "it has not ended".to_owned() };
        let comma = if self.ceiling.is_some() { "," } else { "" };
        let after = || format!("{comma} after {}", millis(self.lived_ms()));
        // A time limit says how long it was.
        let timed_out = self.ended.as_ref().is_some_and(|ended| ended.timed_out);
        let has_error = self.ended.as_ref().is_some_and(|ended| ended.error.is_some());
        let after = (self.started_at.is_some() && !timed_out && !has_error).then(after).unwrap_or_default();
        format!("{end}{after}{}", self.unended_clause())
    }

    /// Says which processes could not be ended, to follow how the task ended.
    #[must_use]
    pub fn unended_clause(&self) -> String {
        self.unended_phrase().map(|phrase| format!("; {}", one_line(&phrase, WHY_CHARS))).unwrap_or_default()
    }

    /// Says who or what ended it, or is ending it: `stopped by operator`, `timed out after 2 min`, or the ceiling that it
    /// met. `None` if that is the command itself, or an error that is self-explanatory.
    pub fn cause(&self) -> Option<String> {
        let ended = self.ended.as_ref();
        let timed_out = ended.filter(|ended| ended.timed_out).map(|_| match self.timeout_ms {
            Some(limit) => format!("timed out after {}", exact(limit)),
            None => "timed out".to_owned(),
        });
        let signalled = ended.and_then(|ended| ended.signalled_by.as_ref());
        let signalled = signalled.map(|by| format!("signalled by {by}"));
        let ceiling = self.ceiling.map(|hit| hit.to_string());
        let causes: Vec<String> =
            ceiling.into_iter().chain(timed_out).chain(self.stop_cause()).chain(signalled).collect();
        (!causes.is_empty()).then(|| causes.join(", "))
    }

    /// Says how its shell exited and which of its processes go on: `Its shell exited with code 0; sleep goes on.`. `None` once
    /// the task has ended, and while its shell runs.
    pub fn outlived_sentence(&self) -> Option<String> {
        let names = self.events.iter().rev().find_map(|event| match &event.fact {
            TaskFact::AtWork(names) | TaskFact::Kept(names) => Some(names),
            _ => None,
        });
        let exit = self.events.iter().rev().find_map(|event| match &event.fact {
            TaskFact::Exit(exit) => Some(exit.code_or_signal()),
            _ => None,
        });
        let (names, (code, signal)) = names.zip(exit).filter(|_| !self.status.is_terminal())?;
        let exit = exit_clause(code, signal.as_deref());
        let goes = if names.len() == 1 { "goes" } else { "go" };
        Some(format!("Its shell {exit}; {} {goes} on.", one_line(&names.join(", "), WHY_CHARS)))
    }

    /// Returns the last signal that the task received before it failed, and who sent it, unless that explains its end:
    /// a command may catch one and exit as it likes.
    pub fn signal_before_end(&self) -> Option<(&Actor, StopSignal)> {
        let ended = self.ended.as_ref()?;
        if ended.signalled_by.is_some() || self.status != TaskStatus::Failed {
            return None;
        }
        self.events.iter().rev().find_map(|event| match event.fact {
            TaskFact::Signal(signal) => Some((&event.actor, signal)),
            _ => None,
        })
    }

    /// Returns why the runtime ended, if the task ended with it.
    pub fn ended_with_runtime(&self) -> Option<String> {
        let by_runtime = self.stop.as_ref().is_some_and(|stop| stop.by == Actor::System);
        self.stop_cause().filter(|_| by_runtime)
    }

    /// Says who stopped the task, or is stopping it.
    fn stop_cause(&self) -> Option<String> {
        let stop = self.stop.as_ref()?;
        let why = stop.why.as_deref();
        match (self.status, &stop.by) {
            (TaskStatus::Interrupted, _) | (TaskStatus::Cancelling, Actor::System) => {
                why.map(|why| format!("ended with the runtime: {why}"))
            }
            (TaskStatus::Cancelling | TaskStatus::Cancelled, by) => {
                let before = if self.never_ran() { " before it ran" } else { "" };
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                Some(format!("{}{before}{why}", stop_clause(by)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_said_in_few_words() {
        for (kind, message, words) in [
            ("output_limit_exceeded", "The command wrote more than 65536 bytes.", "output limit"),
            ("start_unknown", "it is not known whether the command had begun", "may have run"),
            ("internal_error", "the task host was killed", "its host is gone"),
            ("command_spawn_failed", "start /no/shell in /w: No such file (os error 2)", "No such file"),
            ("of_a_later_version", "a sentence", "a sentence"),
        ] {
            let error = Some((kind.to_owned(), message.to_owned()));
            assert_eq!(end(error).error_word().as_deref(), Some(words));
        }
    }

    fn end(error: Option<(String, String)>) -> TaskEnd {
        TaskEnd {
            at: jiff::Timestamp::UNIX_EPOCH,
            ran_ms: None,
            exit_status: None,
            signal: None,
            signalled_by: None,
            timed_out: false,
            error,
            leftovers: Vec::new(),
            survivors: Vec::new(),
            taken_port: None,
        }
    }
}
