//! Where a task listens, and who holds a port that a task could not have.

use jiff::Timestamp;
use pilothouse_envelope::units::millis;
use pilothouse_envelope::{Actor, SafeText};

use crate::{Listener, PortHolder, TakenPort, millis_between};

impl Listener {
    /// Says when that was seen: `127.0.0.1:5173, seen after 1.2 s`.
    #[must_use]
    pub fn in_words(&self) -> String {
        format!("{}, seen after {}", self.at, millis(self.after_ms))
    }
}

impl PortHolder {
    /// Says which task it is, under a name; who started it, and how long before `at`.
    #[must_use]
    pub fn describe(&self, name: &str, by: &str, at: Timestamp) -> String {
        let age = millis(millis_between(self.since, at));
        format!("{name} `{}`, started by {by} {age} earlier", SafeText::lines(&self.cmd))
    }
}

impl TakenPort {
    /// Says what an agent can do about it, which may end no tasks but its own.
    #[must_use]
    pub fn advice(&self, agent: &Actor) -> &'static str {
        if self.port.is_some() && self.holders.iter().any(|holder| holder.by == *agent) {
            "use another port, or end your own task with TaskStop"
        } else if self.in_command {
            "see which port it needs"
        } else {
            "use another port"
        }
    }

    /// Says who holds it, a holder in the words of `holder`. Who holds a port that no task of this runtime holds may be
    /// known to `other`.
    pub fn sentence(
        &self,
        holder: impl Fn(&PortHolder) -> String,
        other: impl FnOnce(u16) -> Option<String>,
    ) -> String {
        let named = if self.in_command { "An address was in use, and port" } else { "Port" };
        let of = if self.in_command { ", which the command names," } else { "" };
        match (self.port, &self.holders[..]) {
            (Some(port), [one, ..]) => format!("{named} {port}{of} is held by {}", holder(one)),
            (Some(port), []) => match other(port) {
                Some(other) => format!("{named} {port}{of} is held by {other}"),
                None => format!("{named} {port}{of} is held, by no task of this workspace"),
            },
            (None, []) => "An address was in use; no task of this workspace holds a port".to_owned(),
            (None, all) => {
                let all: Vec<String> =
                    all.iter().map(|one| format!("port {} by {}", one.port, holder(one))).collect();
                format!("An address was in use; held in this workspace: {}", all.join(", "))
            }
        }
    }
}
