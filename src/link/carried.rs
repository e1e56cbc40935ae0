//! Why a program that should carry a connection to another machine does not, and what to do about it. Pure.

/// Why the program between did not get to a runtime, or lost it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// It cannot be started here.
    NoCarrier {
        /// Its name.
        program: String,
        /// Why.
        why: String,
    },
    /// There is no pilothouse there.
    NoProgram {
        /// What the other side said.
        said: String,
    },
    /// No runtime serves that place.
    NoRuntime {
        /// The id or path.
        place: String,
    },
    /// It exited, or was killed.
    Exited {
        /// Its exit code; none when a signal ended it.
        code: Option<i32>,
        /// What it said, or nothing.
        said: String,
    },
    /// It neither answers nor ends.
    Silent {
        /// What it said, or nothing.
        said: String,
    },
}

impl Carried {
    /// Says what happened and what to do next; `host` is where it was to lead.
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
                "there is no pilothouse there{}; put it there with `pilothouse host install {host}`",
                colon(said)
            ),
            Self::NoRuntime { place } => {
                format!(
                    "no runtime serves {place} there; `pilothouse relay list --host {host}` shows those that run"
                )
            }
            // What was said comes first: there may be no room for all.
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

/// Returns what to do about what ssh says most often.
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
