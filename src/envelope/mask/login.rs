//! Options that take a password only after certain words: `sshpass -p`, `docker login -p`, `curl -u name:value`.

/// Programs that log in to registries and clusters with `login -p`.
const REGISTRIES: [&[u8]; 10] =
    [b"docker", b"podman", b"nerdctl", b"buildah", b"skopeo", b"helm", b"oras", b"crane", b"oc", b"az"];
/// Letters of curl's options that take no value, as in `-fsSLu`.
const SWITCHES: &[u8] = b"fgijklnpqsvGIJLNOSZ0123456#";

/// The maximum length of a user name before a password, in bytes.
const USER_BYTES: usize = 128;

/// The program whose options are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Program {
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
}

impl Program {
    /// Updates the state with the next word of the command.
    pub(super) fn follow(&mut self, word: &[u8]) {
        *self = match (*self, word) {
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
