//! Another machine or container: the program that leads there, and how a command for it is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::config::{HostSettings, quoted};
use crate::link::Error;

/// The longest path of a socket that OpenSSH takes, with what it adds while it makes one: a dot and 16 letters.
const LONGEST_SOCKET: usize = 104 - 17;
/// What the path of a master's socket ends with: a hash of 40 digits.
const SOCKET_NAME: usize = "/cm-".len() + 40;
/// Looks for the program where `host install` puts it, then where people do, and becomes it.
const FIND: &str = concat!(
    "for p in \"$HOME/.local/share/pilothouse/",
    env!("CARGO_PKG_VERSION"),
    "/pilothouse\" \"$(command -v pilothouse)\" \"$HOME/.local/bin/pilothouse\" \"$HOME/.cargo/bin/pilothouse\"; ",
    "do if [ -x \"$p\" ]; then exec \"$p\" \"$@\"; fi; done; exit 127"
);

/// A machine or container that a program leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteHost {
    /// What a person calls it.
    pub name: String,
    /// The program that leads there, and its arguments as a person has given them.
    via: Vec<String>,
    /// The program there, where a person has named it.
    program: Option<String>,
    /// The folder of the sockets of OpenSSH's masters; none where its path is too long.
    masters: Option<PathBuf>,
    /// Whose words go there, e.g. `ada@laptop`.
    user: String,
    /// It may ask at the terminal for passwords.
    may_ask: bool,
}

impl RemoteHost {
    /// Returns the host of this name in the settings; another name is that of a host of OpenSSH. `run` is a private folder
    /// for the sockets of its masters, `user` says whose words go there.
    ///
    /// # Errors
    /// When it is no name, or its settings are empty.
    pub fn named(
        name: &str,
        hosts: &BTreeMap<String, HostSettings>,
        run: &Path,
        user: &str,
    ) -> Result<Self, Error> {
        let is_name = !name.is_empty()
            && !name.starts_with('-')
            && !name.contains(|letter: char| letter.is_control() || letter.is_whitespace());
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

    /// Returns the same host, which may ask at the terminal for what a login needs.
    #[must_use]
    pub fn asking(self) -> Self {
        Self { may_ask: true, ..self }
    }

    /// Tells whether it may ask at the terminal.
    pub(super) fn may_ask(&self) -> bool {
        self.may_ask
    }

    /// Returns whose words go there and how: `ada@laptop via ssh`.
    #[must_use]
    pub fn from(&self) -> String {
        format!("{} via {}", self.user, self.carrier())
    }

    /// Returns the name of the program that leads there.
    #[must_use]
    pub fn carrier(&self) -> &str {
        let program = self.via.first().map_or("", String::as_str);
        program.rsplit('/').next().unwrap_or(program)
    }

    /// Tells whether OpenSSH leads there.
    #[must_use]
    pub fn is_ssh(&self) -> bool {
        self.carrier() == "ssh"
    }

    /// Returns the folder of the sockets of OpenSSH's masters, where connections share one.
    #[must_use]
    pub fn masters(&self) -> Option<&Path> {
        self.masters.as_deref().filter(|_| self.is_ssh())
    }

    /// Returns the command line that runs pilothouse there with these words.
    #[must_use]
    pub fn argv(&self, words: &[&str]) -> Vec<String> {
        match &self.program {
            Some(program) => self.to_run(&[&[program.as_str()], words].concat()),
            None => self.script(FIND, words),
        }
    }

    /// Returns the command line that runs a script of the shell there, with these words as its arguments.
    #[must_use]
    pub fn script(&self, script: &str, words: &[&str]) -> Vec<String> {
        self.to_run(&[&["sh", "-c", script, "pilothouse"], words].concat())
    }

    /// Returns the command line that runs these words there. OpenSSH joins what it is given with spaces for a shell; others
    /// pass it on as it is.
    fn to_run(&self, words: &[&str]) -> Vec<String> {
        let (program, given) = self.via.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        let mut argv = vec![program.to_owned()];
        if self.is_ssh() {
            argv.extend(self.ssh_options());
        }
        argv.extend(given.iter().cloned());
        if self.is_ssh() {
            argv.push(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
        } else {
            argv.extend(words.iter().map(|word| (*word).to_owned()));
        }
        argv
    }

    /// Returns the command line that asks OpenSSH's master for something; none where there is no such thing.
    pub(super) fn to_ask_master(&self, what: &str) -> Option<Vec<String>> {
        self.masters()?;
        let (program, given) = self.via.split_first()?;
        let words = ["-O", what].map(str::to_owned);
        Some([std::slice::from_ref(program), &self.ssh_options()[..], &words, given].concat())
    }

    /// What OpenSSH is told first, and so for good: no terminal, no agent, nothing forwarded, one connection for all, a dead
    /// one noticed after 15 s.
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
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
        ] {
            set(option);
        }
        if let Some(folder) = &self.masters {
            set("ControlMaster=auto");
            set("ControlPersist=10m");
            set(&format!("ControlPath={}/cm-%C", folder.display()));
        }
        options
    }
}

/// Returns the folder for the sockets of OpenSSH's masters below a private one; none where the path would be too long for a
/// socket, or be read as something else by OpenSSH.
#[must_use]
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
        RemoteHost::named(name, &hosts, Path::new("/run/user/7/pilothouse"), "ada@laptop").expect("a host")
    }

    #[test]
    fn a_name_without_settings_is_one_of_openssh() {
        let argv = host("box", &["x"], None).argv(&["relay", "agent", "/w/it's $x"]);
        assert_eq!(argv.first().map(String::as_str), Some("ssh"));
        let at = |word: &str| argv.iter().position(|given| given == word);
        assert!(at("-oControlPath=/run/user/7/pilothouse/cm-%C") < at("box"), "{argv:?}");
        assert!(at("-oForwardAgent=no").is_some() && at("-oBatchMode=yes").is_some(), "{argv:?}");
        // One word for the shell there: nothing in it is expanded.
        let line = argv.last().expect("a line");
        assert!(line.starts_with("sh -c 'for p in"), "{line}");
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
        for name in ["", "-oProxyCommand=x", "a b", "a\nb"] {
            let refused = RemoteHost::named(name, &BTreeMap::new(), Path::new("/run"), "");
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
