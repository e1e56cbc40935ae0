//! Explains why a program that should carry a connection to another machine failed, and what to do about it. Pure.

/// Why the carrier program did not reach a runtime, or lost the connection to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
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

impl Carried {
    /// Tells whether the same attempt may succeed later although nobody changes anything, here or there. What an
    /// unknown program says is not taken for a passing fault.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::NoCarrier { .. } | Self::NoProgram { .. } | Self::NoRuntime { .. } => false,
            Self::Exited { code: Some(_), said } => PASSING.iter().any(|passing| said.contains(passing)),
            Self::Exited { code: None, .. } | Self::Silent { .. } => true,
        }
    }

    /// Describes what happened and what to do next; `host` is the destination.
    #[must_use]
    pub fn told(&self, host: &str) -> String {
        let colon = |said: &str| if said.is_empty() { String::new() } else { format!(": {said}") };
        match self {
            Self::NoCarrier { program, why } => {
                format!(
                    "{program} cannot be started here ({why}); install it, or correct `via` in [hosts.{host}]"
                )
            }
            Self::NoProgram { said } => format!(
                "pilothouse is not installed there{}; install it with `pilothouse host install {host}`",
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
                format!("no answer{}; see `pilothouse doctor --host {host}`", colon(said))
            }
        }
    }
}

/// Returns advice for the most frequent messages of ssh.
fn advice(host: &str, said: &str) -> String {
    let asks =
        ["Permission denied (", "Permission denied, please", "Host key verification failed", "passphrase"];
    if asks.iter().any(|asks| said.contains(asks)) {
        return format!(
            "; log in once with `pilothouse doctor --host {host}`, which may ask for what is needed"
        );
    }
    format!("; see `pilothouse doctor --host {host}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_says_what_to_do() {
        let exited = |said: &str| Carried::Exited { code: Some(255), said: said.into() };
        for (why, advice) in [
            (Carried::NoCarrier { program: "ssh".into(), why: "x".into() }, "install it"),
            (Carried::NoProgram { said: String::new() }, "`pilothouse host install box`"),
            (Carried::NoRuntime { place: "/w".into() }, "`pilothouse relay list --host box`"),
            (exited("box: Permission denied (publickey)"), "log in once with `pilothouse doctor --host box`"),
            (exited("mkdir: can't create directory '/x': Permission denied"), "; see `pilothouse doctor"),
            (exited(""), "`pilothouse doctor --host box`"),
            (Carried::Silent { said: String::new() }, "`pilothouse doctor --host box`"),
        ] {
            let told = why.told("box");
            assert!(told.contains(advice), "{told}");
        }
    }

    #[test]
    fn what_was_said_comes_first() {
        let told = Carried::Exited { code: Some(255), said: "no container".into() }.told("box");
        assert_eq!(told, "no container (exit 255); see `pilothouse doctor --host box`");
        let told = Carried::Exited { code: Some(137), said: String::new() }.told("box");
        assert_eq!(told, "the connection ended (exit 137); see `pilothouse doctor --host box`");
    }
}
