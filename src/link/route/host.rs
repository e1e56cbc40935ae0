//! Another machine or container: the program that leads there, and the command lines for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::config::HostSettings;
use crate::consequence::rule_words::quote;
use crate::envelope::is_hidden;
use crate::link::Error;

/// The longest socket path that OpenSSH accepts, less the suffix that it adds while creating one: a dot and 16
/// letters.
const LONGEST_SOCKET: usize = 104 - 17;
/// Length of the file name of a master's socket, which is a hash of 40 digits.
const SOCKET_NAME: usize = "/cm-".len() + 40;
/// How long OpenSSH keeps a shared connection open that nobody uses, in minutes.
const KEPT_MINUTES: u64 = 10;
/// A script that looks for the program in PATH and in the usual places, and executes it. One that
/// exists but cannot be executed has an exit code of its own.
const FIND: &str = concat!(
    "f=; for p in \"$(command -v pilothouse)\" \"$HOME/.local/bin/pilothouse\" \"$HOME/.cargo/bin/pilothouse\"; ",
    "do if [ -x \"$p\" ]; then exec \"$p\" \"$@\"; elif [ -f \"$p\" ]; then f=\"$p\"; fi; done; ",
    "if [ \"$f\" ]; then echo \"$f\" >&2; exit 126; fi; exit 127"
);

/// A machine or container reached through a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteHost {
    /// The name that a person uses for it.
    pub name: String,
    /// The program that leads there, and its arguments as configured.
    via: Vec<String>,
    /// The program to run there, if configured.
    program: Option<String>,
    /// The folder for the sockets of OpenSSH masters; `None` if its path is too long.
    masters: Option<PathBuf>,
    /// The user on whose behalf connections are made, e.g. `ada@laptop`.
    user: String,
    /// Whether it may ask for passwords on the terminal.
    may_ask: bool,
}

impl RemoteHost {
    /// Returns the host with this name in the settings; any other name is taken as an OpenSSH host. `run` is a
    /// private folder for the sockets of OpenSSH masters, and `user` the user on whose behalf connections are made.
    ///
    /// # Errors
    /// If it is not a valid name or its settings are empty.
    pub fn from_name(
        name: &str,
        hosts: &BTreeMap<String, HostSettings>,
        run: &Path,
        user: &str,
    ) -> Result<Self, Error> {
        let is_name = !name.is_empty()
            && !name.starts_with('-')
            && !name
                .contains(|letter: char| is_hidden(letter) || letter.is_control() || letter.is_whitespace());
        if !is_name {
            return Err(Error::NoHostName { name: name.to_owned() });
        }
        let settings = hosts
            .get(name)
            .cloned()
            .unwrap_or_else(|| HostSettings { via: vec!["ssh".to_owned(), name.to_owned()], program: None });
        if settings.via.first().is_none_or(String::is_empty) {
            return Err(Error::NoHostName { name: name.to_owned() });
        }
        Ok(Self {
            name: name.to_owned(),
            via: settings.via,
            program: settings.program,
            masters: ssh_folder(run),
            user: user.to_owned(),
            may_ask: false,
        })
    }

    /// Returns the same host, allowed to ask on the terminal for what a login needs.
    #[must_use]
    pub fn asking(self) -> Self {
        Self { may_ask: true, ..self }
    }

    /// Tells whether it may ask on the terminal.
    pub(super) fn may_ask(&self) -> bool {
        self.may_ask
    }

    /// Returns the origin reported to the other side: `ada@laptop via ssh`.
    pub fn from(&self) -> String {
        format!("{} via {}", self.user, self.carrier())
    }

    /// Returns the program that leads there.
    pub(super) fn program(&self) -> &str {
        self.via.first().map_or("", String::as_str)
    }

    /// Returns its name.
    pub fn carrier(&self) -> &str {
        let program = self.program();
        program.rsplit('/').next().unwrap_or(program)
    }

    /// Tells whether that program is OpenSSH.
    fn is_ssh(&self) -> bool {
        self.carrier() == "ssh"
    }

    /// Returns the command line that runs pilothouse there with these arguments.
    pub fn argv(&self, words: &[&str]) -> Vec<String> {
        match &self.program {
            Some(program) => self.to_run(&[&[program.as_str()], words].concat()),
            None => self.to_run(&[&["sh", "-c", FIND, "pilothouse"], words].concat()),
        }
    }

    /// Returns the command line that runs these words there. OpenSSH joins its arguments with spaces for a shell;
    /// other programs pass them on unchanged.
    fn to_run(&self, words: &[&str]) -> Vec<String> {
        let (program, given) = self.via.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        let mut argv = vec![program.to_owned()];
        if self.is_ssh() {
            argv.extend(self.ssh_options());
        }
        argv.extend(given.iter().cloned());
        if self.is_ssh() {
            argv.push(words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "));
        } else {
            argv.extend(words.iter().map(|word| (*word).to_owned()));
        }
        argv
    }

    /// Returns the options that OpenSSH is given first, so that they take precedence: no terminal, no agent, no
    /// forwarding, one shared connection, and dead connections detected after 15 s.
    fn ssh_options(&self) -> Vec<String> {
        let mut options = vec!["-T".to_owned()];
        let mut set = |option: &str| options.push(format!("-o{option}"));
        if !self.may_ask {
            set("BatchMode=yes");
        }
        for option in [
            "ForwardAgent=no",
            "ForwardX11=no",
            "ClearAllForwardings=yes",
            "PermitLocalCommand=no",
            "RemoteCommand=none",
            "ConnectTimeout=15",
            // The text that a server shows at each login is no reason for anything.
            "LogLevel=ERROR",
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
        ] {
            set(option);
        }
        if let Some(folder) = &self.masters {
            set("ControlMaster=auto");
            set(&format!("ControlPersist={KEPT_MINUTES}m"));
            set(&format!("ControlPath={}/cm-%C", folder.display()));
        }
        options
    }
}

/// Returns the folder for the sockets of OpenSSH masters, given a private one; `None` if the path would be too long
/// for a socket or be interpreted by OpenSSH.
pub fn ssh_folder(run: &Path) -> Option<PathBuf> {
    let text = run.to_str()?;
    let is_plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-".contains(letter));
    (is_plain && run.is_absolute() && text.len() + SOCKET_NAME <= LONGEST_SOCKET).then(|| run.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, via: &[&str], program: Option<&str>) -> RemoteHost {
        let via = via.iter().map(|word| (*word).to_owned()).collect();
        let settings = HostSettings { via, program: program.map(str::to_owned) };
        let hosts = [("web".to_owned(), settings)].into();
        RemoteHost::from_name(name, &hosts, Path::new("/run/user/7/pilothouse"), "ada@laptop")
            .expect("a host")
    }

    #[test]
    fn a_name_without_settings_is_one_of_openssh() {
        let argv = host("box", &["x"], None).argv(&["relay", "agent", "/w/it's $x"]);
        assert_eq!(argv.first().map(String::as_str), Some("ssh"));
        let at = |word: &str| argv.iter().position(|given| given == word);
        assert!(at("-oControlPath=/run/user/7/pilothouse/cm-%C") < at("box"), "{argv:?}");
        assert!(at("-oForwardAgent=no").is_some() && at("-oBatchMode=yes").is_some(), "{argv:?}");
        // A single word for the remote shell: nothing in it is expanded.
        let line = argv.last().expect("a line");
        assert!(line.starts_with("sh -c 'f=; for p in"), "{line}");
        assert!(line.ends_with(r"pilothouse relay agent '/w/it'\''s $x'"), "{line}");
    }

    #[test]
    fn other_programs_are_given_the_words_as_they_are() {
        let argv =
            host("web", &["docker", "exec", "-i", "web"], Some("/opt/p")).argv(&["relay", "agent", "/a b"]);
        assert_eq!(argv, ["docker", "exec", "-i", "web", "/opt/p", "relay", "agent", "/a b"]);
        let argv = host("web", &["/usr/bin/ssh", "-F", "f", "b"], Some("/o p/p")).argv(&["relay", "list"]);
        assert_eq!(argv.last().map(String::as_str), Some("'/o p/p' relay list"));
        assert_eq!(argv[argv.len() - 4..argv.len() - 1], ["-F", "f", "b"]);
    }

    #[test]
    fn a_name_that_would_be_an_option_is_refused() {
        for name in ["", "-oProxyCommand=x", "a b", "a\nb", "box\u{202e}", "b\u{200b}ox"] {
            let refused = RemoteHost::from_name(name, &BTreeMap::new(), Path::new("/run"), "");
            assert!(matches!(refused, Err(Error::NoHostName { .. })), "{name:?}");
        }
    }

    #[test]
    fn a_folder_too_deep_for_sockets_has_no_master() {
        assert_eq!(
            ssh_folder(Path::new("/run/user/1000/pilothouse")),
            Some("/run/user/1000/pilothouse".into())
        );
        for folder in ["/run/a b", "/run/100%", "relative", &format!("/{}", "x".repeat(43))] {
            assert_eq!(ssh_folder(Path::new(folder)), None, "{folder}");
        }
        assert!(ssh_folder(Path::new(&format!("/{}", "x".repeat(42)))).is_some());
    }
}
