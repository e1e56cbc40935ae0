//! Recognition of names whose value is a secret.

/// Words that make a name secret wherever they appear in it, ignoring `-` and `_`.
const SECRET_WORDS: [&str; 20] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "apikey",
    "accesskey",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "credential",
    "storepass",
    "keypass",
    "userpass",
    "requirepass",
    "masterauth",
    "bindpw",
    "rootpw",
];
/// Harmless words that contain one of those.
const OTHER_WORDS: [&str; 4] = ["tokeniz", "tokenis", "secretar", "passwordless"];
/// Words that make a name secret only as separate words: `DB_PASS`, `X_AUTH`, not `PATH`, `GIT_AUTHOR_NAME`.
const OWN_WORDS: [&str; 9] = ["pat", "auth", "pass", "pw", "pwd", "passin", "passout", "bearer", "cookie"];
/// Last words of names whose value is the location of a secret.
const PLACES: [&str; 7] = ["file", "path", "dir", "stdin", "sock", "fd", "jar"];
/// Ends of names whose value is what a person is asked: `--passwordbox TEXT`.
const DIALOGS: [&str; 3] = ["box", "form", "prompt"];
/// Last words of names with one of [`OWN_WORDS`] whose value says how, where or as whom to log in, rather than with
/// what.
const MANNERS: [&str; 24] = [
    "type",
    "method",
    "mode",
    "mechanism",
    "scheme",
    "source",
    "provider",
    "plugin",
    "url",
    "uri",
    "host",
    "port",
    "server",
    "realm",
    "user",
    "name",
    "through",
    "count",
    "enabled",
    "required",
    "domain",
    "age",
    "secure",
    "samesite",
];
/// Beginnings of values that say where a password is rather than what it is.
const REFERENCES: [&[u8]; 3] = [b"env:", b"file:", b"fd:"];
/// Values of such names that are not secrets.
const SWITCHED: [&[u8]; 8] = [b"true", b"false", b"yes", b"no", b"on", b"off", b"none", b"null"];

/// A name that contains one of the words, in lower case with `_` between its parts.
pub(super) struct VariableName {
    text: String,
    /// Whether it contains one of [`SECRET_WORDS`], not just one of [`OWN_WORDS`].
    is_plain: bool,
}

impl VariableName {
    /// Parses a name; `None` if it does not name a secret.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let mut text = String::with_capacity(bytes.len() + 4);
        let mut last = b'_';
        for byte in bytes {
            if byte.is_ascii_uppercase() && (last.is_ascii_lowercase() || last.is_ascii_digit()) {
                text.push('_');
            }
            text.push(if *byte == b'-' { '_' } else { char::from(byte.to_ascii_lowercase()) });
            last = *byte;
        }
        let named = OTHER_WORDS.iter().fold(text.replace('_', ""), |name, other| name.replace(other, " "));
        let is_plain = SECRET_WORDS.iter().any(|word| named.contains(word));
        let is_named = is_plain || text.split('_').any(|part| OWN_WORDS.contains(&part));
        is_named.then_some(Self { text, is_plain })
    }

    /// Returns whether a value of this name is not a secret: a path to one, a number of tokens, a switch, a question.
    pub(super) fn allows(&self, value: &[u8]) -> bool {
        let end = self.text.rsplit('_').next().unwrap_or_default();
        let is_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/~+@,:".contains(byte);
        let is_count = self.text.ends_with("tokens") && value.iter().all(u8::is_ascii_digit);
        is_count
            || DIALOGS.iter().any(|what| end.ends_with(what))
            || PLACES.contains(&end) && value.iter().all(is_path)
            || !self.is_plain && (self.is_manner() || is_switched(value) || is_place(value))
            || end == "pwd" && value.first().is_none_or(|first| b"/.~$`\"'".contains(first))
    }

    /// Returns whether no value of this name is a secret: it says how, where or as whom to log in.
    pub(super) fn is_manner(&self) -> bool {
        let end = self.text.rsplit('_').next().unwrap_or_default();
        !self.is_plain && MANNERS.contains(&end)
    }

    /// Returns whether it contains one of [`SECRET_WORDS`], or `pass` by itself.
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain || self.text.trim_start_matches('_') == "pass"
    }

    /// Returns whether a flag of this name takes no value.
    pub(super) fn is_switch(&self) -> bool {
        let name = self.text.trim_start_matches('_');
        name.starts_with("no_") || name.ends_with("_stdin")
    }
}

/// Returns whether a value names the variable, file or descriptor that has the secret.
fn is_place(value: &[u8]) -> bool {
    value == b"stdin" || REFERENCES.iter().any(|place| value.starts_with(place))
}

/// Returns whether a value is a switch, a single digit or arithmetic: `pass=$((pass+1))` counts something.
fn is_switched(value: &[u8]) -> bool {
    let small = value.to_ascii_lowercase();
    matches!(value, [b'0'..=b'9']) || value.starts_with(b"$((") || SWITCHED.contains(&small.as_slice())
}

/// Returns whether a header's whole value is a secret.
pub(super) fn is_authorization(name: &[u8]) -> bool {
    let word = name.len().checked_sub("authorization".len()).and_then(|at| name.get(at..));
    word.is_some_and(|word| word.eq_ignore_ascii_case(b"authorization"))
}

/// Returns whether a header's value is a list of cookies.
pub(super) fn is_cookie(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"cookie") || name.eq_ignore_ascii_case(b"set-cookie")
}

/// Returns whether a header carries a key or a token: `X-Api-Key`, `PRIVATE-TOKEN`.
pub(super) fn is_header(name: &[u8]) -> bool {
    const KNOWN: [&[u8]; 5] = [b"api-key", b"apikey", b"private-token", b"job-token", b"deploy-token"];
    let small = name.to_ascii_lowercase();
    let is_own = small.starts_with(b"x-") && (small.ends_with(b"-key") || VariableName::of(&small).is_some());
    is_own || KNOWN.contains(&small.as_slice())
}
