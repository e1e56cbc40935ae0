//! Explains why a program that should carry a connection to another machine failed, and what to do about it. Pure.

/// Why the carrier program did not reach a runtime, or lost the connection to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransportError {
    /// The carrier cannot be started here.
    NoCarrier {
        /// The carrier's name.
        program: String,
        /// The reason.
        why: String,
    },
    /// There is no pilothouse on the other side.
    NoProgram {
        /// The other side's message.
        said: String,
    },
    /// There is one, but it cannot be executed.
    NotRun {
        /// The other side's message.
        said: String,
    },
    /// The key of the host is another than the one on record here.
    ChangedKey,
    /// The login succeeded, and nothing that was asked was answered.
    Unanswered {
        /// The other side's message, or empty.
        said: String,
    },
    /// No runtime serves that place.
    NoRuntime {
        /// The place's id or path.
        place: String,
    },
    /// The carrier exited or was killed.
    Exited {
        /// The exit code; `None` if a signal ended it.
        code: Option<i32>,
        /// Its message, or empty.
        said: String,
    },
    /// The carrier neither answers nor exits.
    Silent {
        /// Its message, or empty.
        said: String,
    },
}

/// What ssh and other carriers say of a network or a host that may be back in a moment.
const PASSING: [&str; 10] = [
    "Connection refused",
    "Connection reset",
    "Connection closed",
    "Connection timed out",
    "Operation timed out",
    "Network is unreachable",
    "No route to host",
    "Temporary failure in name resolution",
    "closed by remote host",
    "Broken pipe",
];

/// Exit codes of a shell that did not find a program, and of one that could not run it.
const NOT_FOUND: i32 = 127;
const NOT_RUN: i32 = 126;
/// What ssh says of a host whose key has changed. What it says besides includes how to delete the old key, which is
/// not for a reader who cannot check the new one.
const CHANGED_KEY: [&str; 2] = ["REMOTE HOST IDENTIFICATION HAS CHANGED", "POSSIBLE DNS SPOOFING DETECTED"];

impl TransportError {
    /// Returns the reason for the end of a carrier that gave no answer; `said` is everything that it wrote to standard
    /// error, and `told` the part of it that may be shown.
    pub(super) fn of_exit(code: Option<i32>, said: &[u8], told: String) -> Self {
        let text = String::from_utf8_lossy(said);
        match code {
            _ if CHANGED_KEY.iter().any(|changed| text.contains(changed)) => Self::ChangedKey,
            Some(NOT_FOUND) => Self::NoProgram { said: told },
            Some(NOT_RUN) => Self::NotRun { said: told },
            Some(0) => Self::Unanswered { said: told },
            code => Self::Exited { code, said: told },
        }
    }

    /// Returns the same reason for the end of a connection that had been answered: its end is no missing answer.
    #[must_use]
    pub(super) fn after_an_answer(self) -> Self {
        match self {
            Self::Unanswered { said } => Self::Exited { code: Some(0), said },
            other => other,
        }
    }

    /// Tells whether the same attempt may succeed later although nobody changes anything, here or there. What an
    /// unknown program says is not taken for a passing fault.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Exited { code: Some(_), said } => PASSING.iter().any(|passing| said.contains(passing)),
            Self::Exited { code: None, .. } | Self::Silent { .. } => true,
            _ => false,
        }
    }

    /// Describes what happened and what to do next; `host` is the destination.
    pub fn describe(&self, host: &str) -> String {
        let colon = |said: &str| if said.is_empty() { String::new() } else { format!(": {said}") };
        match self {
            Self::NoCarrier { program, why } => {
                format!(
                    "{program} cannot be started here ({why}); install it, or correct `via` in [hosts.{host}]"
                )
            }
            Self::NoProgram { said } => format!(
                "pilothouse is not there{}; copy it to `~/.local/bin` there, or name its place: `program` in [hosts.{host}]",
                colon(said)
            ),
            Self::NotRun { said } => format!(
                "pilothouse cannot be executed there (is its file system mounted noexec, or is it built for \
                 another machine?){}; put it where it can be, and name it: `program` in [hosts.{host}]",
                colon(said)
            ),
            Self::ChangedKey => format!(
                "the key of {host} is another than the one on record here: it was reinstalled, or something \
                 else answers in its place. A person has to check it; nothing was sent"
            ),
            Self::Unanswered { said } => format!(
                "{host} can be logged in to, and answers nothing{}: something ends its shell first, such as \
                 `exit` in a file that it reads at login",
                colon(said)
            ),
            Self::NoRuntime { place } => {
                format!(
                    "no runtime serves {place} there; `pilothouse relay list --host {host}` shows those that run"
                )
            }
            // The message comes first, because there may not be room for everything.
            Self::Exited { code, said } => {
                let how = match (code, said.is_empty()) {
                    (Some(code), false) => format!("{said} (exit {code})"),
                    (Some(code), true) => format!("the connection ended (exit {code})"),
                    (None, _) => {
                        format!("the program that carried the connection was killed{}", colon(said))
                    }
                };
                format!("{how}{}", advice(host, said))
            }
            Self::Silent { said } => {
                format!("no answer{}", colon(said))
            }
        }
    }
}

/// Returns advice for the most frequent messages of ssh.
fn advice(host: &str, said: &str) -> String {
    let asks =
        ["Permission denied (", "Permission denied, please", "Host key verification failed", "passphrase"];
    if asks.iter().any(|asks| said.contains(asks)) {
        return format!("; log in once with `pilothouse fleet {host}`, which may ask for what is needed");
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_transport_error_says_what_to_do() {
        let exited = |said: &str| TransportError::Exited { code: Some(255), said: said.into() };
        for (why, advice) in [
            (TransportError::NoCarrier { program: "ssh".into(), why: "x".into() }, "install it"),
            (TransportError::NoProgram { said: String::new() }, "`program` in [hosts.box]"),
            (TransportError::NotRun { said: String::new() }, "`program` in [hosts.box]"),
            (TransportError::ChangedKey, "A person has to check it"),
            (TransportError::Unanswered { said: String::new() }, "`exit` in a file"),
            (TransportError::NoRuntime { place: "/w".into() }, "`pilothouse relay list --host box`"),
            (exited("box: Permission denied (publickey)"), "log in once with `pilothouse fleet box`"),
            (exited("mkdir: can't create directory '/x': Permission denied"), "Permission denied (exit 255)"),
            (exited(""), "the connection ended (exit 255)"),
            (TransportError::Silent { said: String::new() }, "no answer"),
        ] {
            let told = why.describe("box");
            assert!(told.contains(advice), "{told}");
        }
    }

    #[test]
    fn f59_the_reason_of_a_lost_link_is_a_changed_host_key_or_else_the_exit_of_the_carrier() {
        let said = "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n  ssh-keygen -f \"/h\" -R \"box\"\n\
                    Host key verification failed.";
        let of = |code, said: &str| TransportError::of_exit(code, said.as_bytes(), said.to_owned());
        assert_eq!(of(Some(255), said), TransportError::ChangedKey);
        assert_eq!(of(Some(0), said), TransportError::ChangedKey);
        for code in [Some(255), Some(0)] {
            let told = of(code, said).describe("box");
            assert!(!told.contains("ssh-keygen") && !told.contains("-R"), "{told}");
        }
        assert_eq!(of(Some(127), "x"), TransportError::NoProgram { said: "x".into() });
        assert_eq!(of(Some(126), "x"), TransportError::NotRun { said: "x".into() });
        assert_eq!(of(Some(0), ""), TransportError::Unanswered { said: String::new() });
        let ended = of(Some(0), "").after_an_answer().describe("box");
        assert!(ended.starts_with("the connection ended (exit 0)"), "{ended}");
        assert_eq!(of(Some(1), "x"), TransportError::Exited { code: Some(1), said: "x".into() });
        assert_eq!(of(None, ""), TransportError::Exited { code: None, said: String::new() });
    }

    #[test]
    fn a_transport_error_begins_with_the_message_of_the_carrier() {
        let told = TransportError::Exited { code: Some(255), said: "no container".into() }.describe("box");
        assert_eq!(told, "no container (exit 255)");
        let told = TransportError::Exited { code: Some(137), said: String::new() }.describe("box");
        assert_eq!(told, "the connection ended (exit 137)");
    }
}
