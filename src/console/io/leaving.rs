//! What ends, suspends or resumes the console from outside: signals, a terminal that goes away, `serve --stop`.

use std::time::Duration;

use rustix::process::{Pid, getpgid, getpgrp, getsid};

use super::clipboard;
use super::display::{self, Sequence};
use super::driver::{Driver, LoopEnd};
use super::signals::SignalRequest;
use super::tty;
use crate::console::ConsoleError;
use crate::process;

/// How long a terminal may take to accept what restores it, once for what was written before and once for that.
pub(in crate::console) const GIVING_BACK: Duration = Duration::from_millis(500);
/// The same when a person leaves, who is there and has a terminal that works.
pub(in crate::console) const LEAVING: Duration = Duration::from_secs(2);
/// Resizes that follow each other this closely are handled as one.
const RESIZING: Duration = Duration::from_millis(50);

impl LoopEnd {
    /// Returns how long the terminal may take to accept what is left to write, and again what restores it.
    pub(in crate::console) fn patience(self) -> Duration {
        if self == Self::Left { LEAVING } else { GIVING_BACK }
    }
}

impl Driver {
    pub(super) fn handle_signal(&mut self, asked: SignalRequest) -> Result<Option<LoopEnd>, ConsoleError> {
        match asked {
            SignalRequest::End(code) => return Ok(Some(LoopEnd::Signal(code))),
            SignalRequest::HangUp => return Ok(Some(self.hangup_end())),
            SignalRequest::Resize => {
                let at = self.clock.now().mono + RESIZING;
                self.times.resize.get_or_insert(at);
            }
            SignalRequest::Suspend => self.suspend()?,
            SignalRequest::Continue => self.retake()?,
        }
        Ok(None)
    }

    fn suspend(&mut self) -> Result<(), ConsoleError> {
        self.display.output().finish(GIVING_BACK);
        tty::give_back(GIVING_BACK);
        // The process stays stopped inside this call until it is continued.
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)
            .map_err(|error| ConsoleError::Terminal(error.into()))?;
        self.retake()
    }

    /// Suspends the console as the person wants, if there is a shell to go back to.
    pub(super) fn suspend_for_shell(&mut self) -> Result<(), ConsoleError> {
        if has_shell() {
            return self.suspend();
        }
        let now = self.clock.now().wall;
        self.app.state.toasts.say("there is no shell to go back to", None, now);
        self.app.state.touch();
        Ok(())
    }

    /// Returns how the loop ends when the terminal is gone.
    pub(super) fn hangup_end(&self) -> LoopEnd {
        let goes_on = self.source.options.outlives_terminal(self.app.state.setup.ui.console.on_hangup);
        if goes_on && !self.app.state.is_leaving { LoopEnd::Detached } else { LoopEnd::Gone }
    }

    /// Sets the title of the terminal's window, or restores the original one.
    pub(super) fn title(&mut self, title: Option<&str>) -> Result<(), ConsoleError> {
        tty::keep_title(self.display.output(), title.is_some()).map_err(ConsoleError::Terminal)?;
        let Some(title) = title else { return Ok(()) };
        self.write_sequence(&display::title_sequence(title))
    }

    /// Rings the bell and reports why, unless the bell is off.
    pub(super) fn ring_terminal(&mut self, why: &str) -> Result<(), ConsoleError> {
        match self.app.state.setup.ui.console.bell {
            true => self.write_sequence(&display::ring_sequence(why)),
            false => Ok(()),
        }
    }

    pub(super) fn write_sequence(&mut self, sequence: &Sequence) -> Result<(), ConsoleError> {
        self.display.write(sequence).map_err(ConsoleError::Terminal)
    }

    /// Copies a text: through the terminal if it takes that much, and with the clipboard's programs.
    pub(super) fn copy_and_report(&mut self, text: String, what: String) -> Result<(), ConsoleError> {
        let fits = clipboard::fits_terminal(&text);
        if fits {
            self.write_sequence(&display::copy_sequence(&text))?;
        }
        self.effects.copy(text, what, fits);
        Ok(())
    }

    fn retake(&mut self) -> Result<(), ConsoleError> {
        let mouse = self.mouse(self.app.state.outer.has_mouse);
        tty::take(self.display.output(), mouse).map_err(ConsoleError::Terminal)?;
        self.set_hover()?;
        self.set_keys()?;
        self.title(self.app.attention.title.clone().as_deref())?;
        self.display.clear();
        self.times.resize = Some(self.clock.now().mono);
        self.app.state.touch();
        Ok(())
    }

    /// Tells whether `serve --stop` gets its way.
    pub(super) fn is_stop_due(&self, now: Duration) -> bool {
        let is_shown =
            self.app.stopping.question.as_ref().is_some_and(|question| question.shown_at.is_some());
        self.stop.is_due(now, is_shown)
    }

    pub(super) fn stop_as_asked(&mut self) -> LoopEnd {
        self.stop.answer(true);
        LoopEnd::Stopped
    }
}

/// Tells whether a shell with job control started this program: its group's parent is in the same session and in
/// another group.
fn has_shell() -> bool {
    let group = getpgrp();
    let leader = u32::try_from(group.as_raw_nonzero().get()).ok();
    let parent = leader.and_then(process::parent).and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    parent.is_some_and(|parent| {
        getsid(Some(parent)).ok() == getsid(None).ok()
            && getpgid(Some(parent)).is_ok_and(|other| other != group)
    })
}
