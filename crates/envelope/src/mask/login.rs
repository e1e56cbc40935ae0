//! Options and arguments that are secrets only after certain words: `sshpass -p`, `docker login -p`,
//! `curl -u name:value`, `config set NAME value`.

use super::name::VariableName;

/// Programs that log in to registries and clusters with `login -p`.
const REGISTRIES: [&[u8]; 10] =
    [b"docker", b"podman", b"nerdctl", b"buildah", b"skopeo", b"helm", b"oras", b"crane", b"oc", b"az"];
/// Programs whose `-p` takes a password only if it is attached.
const ATTACHING: [&[u8]; 6] =
    [b"mysql", b"mysqldump", b"mysqladmin", b"mysqlimport", b"mariadb", b"mariadb-dump"];
/// Words after which a name and its value may follow.
const SETTING: [&[u8]; 8] =
    [b"set", b"SET", b"config", b"CONFIG", b"configure", b"setenv", b"--arg", b"--argjson"];
/// Programs whose standard input is a password.
pub(super) const SETS_PASSWORDS: [&[u8]; 2] = [b"passwd", b"chpasswd"];
/// Letters of curl's options that take no value, as in `-fsSLu`.
const SWITCHES: &[u8] = b"fgijklnpqsvGIJLNOSZ0123456#";

/// The maximum length of a user name before a password, in bytes.
const USER_BYTES: usize = 128;

/// The program whose options are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LoginProgram {
    /// Any other program.
    #[default]
    Other,
    /// `sshpass`, before the command it runs.
    Sshpass,
    Curl,
    /// One of the [`REGISTRIES`].
    Registry,
    /// Its `login` command.
    RegistryLogin,
    /// One of [`ATTACHING`].
    Attaching,
    /// One of the words of [`SETTING`]: a name may follow.
    Set,
    /// An option between that word and the name, whose value may follow.
    SetOption,
    /// A name of a secret, or another word that a secret follows.
    SetSecret,
    Printf,
    /// Its `-v`.
    PrintfInto,
    /// The name of a secret after that.
    PrintfSecret,
    /// `read`.
    Read,
    /// A name of a secret after that.
    ReadSecret,
    /// The `machine` of a netrc file.
    Machine,
    /// The `IDENTIFIED` of SQL.
    Identified,
}

impl LoginProgram {
    /// Updates the state with the next word of the command, the first of its command or line if `is_first`.
    pub(super) fn follow(&mut self, word: &[u8], is_first: bool) {
        let is_option = word.starts_with(b"-");
        let names_secret = || !is_option && VariableName::of(word).is_some_and(|name| !name.is_manner());
        *self = match (*self, word) {
            (Self::PrintfInto, _) if names_secret() => Self::PrintfSecret,
            (Self::Read | Self::ReadSecret, _) if names_secret() => Self::ReadSecret,
            (Self::Set | Self::SetOption, _) if names_secret() => Self::SetSecret,
            (Self::Machine, b"password") => Self::SetSecret,
            (Self::Identified, word) if word.eq_ignore_ascii_case(b"by") => Self::SetSecret,
            (_, b"password") if is_first => Self::SetSecret,
            (Self::Printf, b"-v") => Self::PrintfInto,
            (Self::Set | Self::SetOption, _) if is_option => Self::SetOption,
            (Self::SetOption, _) => Self::Set,
            (_, word) if SETTING.contains(&word) => Self::Set,
            (_, b"printf") => Self::Printf,
            (_, b"read" | b"mapfile" | b"readarray") => Self::Read,
            (_, b"machine") => Self::Machine,
            (_, word) if ATTACHING.contains(&word) => Self::Attaching,
            (_, word) if word.eq_ignore_ascii_case(b"identified") => Self::Identified,
            (Self::Set, _) => Self::Other,
            (_, b"sshpass") => Self::Sshpass,
            (_, b"curl") => Self::Curl,
            (_, word) if REGISTRIES.contains(&word) => Self::Registry,
            (Self::Registry, b"login") => Self::RegistryLogin,
            // After its own command begins, `-p` is a different option.
            (Self::Sshpass, word) if !word.starts_with(b"-") => Self::Other,
            (same, _) => same,
        }
    }

    /// Returns whether `-p` takes a password.
    pub(super) fn has_password(self) -> bool {
        matches!(self, Self::Sshpass | Self::RegistryLogin)
    }

    /// Returns whether `-p` may have a password attached.
    pub(super) fn attaches_password(self) -> bool {
        self.has_password() || self == Self::Attaching
    }
}

/// Returns whether an option takes `name:value`.
pub(super) fn takes_user(option: &[u8]) -> bool {
    let is_short = |letters: &[u8]| letters.iter().all(|letter| SWITCHES.contains(letter));
    match option {
        b"--user" | b"--proxy-user" => true,
        [b'-', letters @ .., b'u' | b'U'] => is_short(letters),
        _ => false,
    }
}

/// Returns whether an option takes a header.
pub(super) fn takes_header(option: &[u8]) -> bool {
    matches!(option, b"-H" | b"--header" | b"--proxy-header")
}

/// Returns whether a word is an option with its value attached.
pub(super) fn has_attached(word: &[u8], option: &[u8]) -> bool {
    let value = word.strip_prefix(option).and_then(|value| value.first());
    value.is_some_and(|first| !first.is_ascii_whitespace() && *first != b'=')
}

/// Returns the length of the user name at the start of a text. A user name never begins with a plus:
/// `date -u +%H:%M`.
pub(super) fn user(text: &[u8]) -> Option<usize> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._@%+$-{}".contains(&byte);
    let length = text.iter().take(USER_BYTES).position(|byte| !is_part(*byte))?;
    (!text.starts_with(b"+")).then_some(length)
}
