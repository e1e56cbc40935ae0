//! Extracts what the model wrote from the script in which its agent wraps it. Pure. Every recognised form was
//! observed with the real agent (tests/corpus/shell); any other script is shown whole rather than guessed at.

use std::borrow::Cow;

/// The agent whose shell this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
}

impl Kind {
    /// Returns the name by which the agent's program identifies itself elsewhere.
    #[must_use]
    pub fn client(self) -> &'static str {
        match self {
            Self::Claude => "claude-code",
            Self::Codex => "codex-mcp-client",
            Self::Gemini => "gemini-cli-mcp-client",
            Self::Opencode => "opencode",
        }
    }
}

/// Returns the command in an agent's script; `None` if the form is not recognised. Codex and opencode wrap nothing.
#[must_use]
pub fn unwrap(agent: Option<Kind>, script: &str) -> Option<Cow<'_, str>> {
    match agent? {
        Kind::Claude => claude(script),
        Kind::Gemini => gemini(script),
        Kind::Codex | Kind::Opencode => Some(script.into()),
    }
}

const BASH_TOO_OLD: &str = "{ case \"${BASH_VERSINFO-}\" in '2'|'3') \\builtin printf '%s\\n' \
    '__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='\"${BASH_VERSION-}\" >&2; \\builtin exit 126; \\exit 126;; esac; } && ";
const NO_EXTGLOB: &str = "\\builtin shopt -u extglob 2>/dev/null || true && ";
const OR_TRUE: &str = " 2>/dev/null || true && ";
const HIDDEN: [&str; 3] =
    ["{ \\builtin unalias -- '", "'; \\builtin unset -f -- '", "'; } >/dev/null 2>&1 || true && "];
const DIRECTORY: &str = " && pwd -P >| ";
const NO_INPUT: &str = " < /dev/null";

/// Unwraps Claude Code's form: `source SNAPSHOT … && eval 'COMMAND' < /dev/null && pwd -P >| FILE`.
fn claude(script: &str) -> Option<Cow<'_, str>> {
    let rest = script.strip_prefix(BASH_TOO_OLD).unwrap_or(script);
    let (snapshot, mut rest) = rest.strip_prefix("source ")?.split_once(OR_TRUE)?;
    if !is_plain_word(snapshot) {
        return None;
    }
    rest = rest.strip_prefix(NO_EXTGLOB).unwrap_or(rest);
    // Claude Code removes certain aliases and functions, such as `which`, that the snapshot may define.
    while let Some(named) = rest.strip_prefix(HIDDEN[0]) {
        let (name, after) = named.split_once(HIDDEN[1])?;
        let after = after.strip_prefix(name)?.strip_prefix(HIDDEN[2])?;
        if !is_plain_word(name) {
            return None;
        }
        rest = after;
    }
    let (call, file) = rest.strip_prefix("eval ")?.rsplit_once(DIRECTORY)?;
    if !is_plain_word(file) {
        return None;
    }
    word(call.strip_suffix(NO_INPUT).unwrap_or(call)).map(Cow::Owned)
}

const GEMINI_BEGIN: &str = "shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=";
const GEMINI_TRAP: &str = "\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n";
const GEMINI_END: &str = "\n)\n__code=$?\nexit $__code";

fn gemini(script: &str) -> Option<Cow<'_, str>> {
    let (file, rest) = script.strip_prefix(GEMINI_BEGIN)?.split_once(GEMINI_TRAP)?;
    is_plain_word(file).then_some(())?;
    Some(rest.strip_suffix(GEMINI_END)?.into())
}

/// Returns whether a shell takes a word literally.
fn is_plain_word(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    !word.is_empty() && word.chars().all(is_plain)
}

/// Parses one shell word of quoted and plain parts, which must span the whole text.
fn word(text: &str) -> Option<String> {
    let (mut read, mut rest) = (String::new(), text);
    if text.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let (inner, after) = quoted.split_once('\'')?;
            read.push_str(inner);
            rest = after;
        } else if let Some(quoted) = rest.strip_prefix('"') {
            // Double quotes are used only for what cannot be written in single quotes.
            let (inner, after) = quoted.split_once('"')?;
            if inner.is_empty() || inner.contains(|c| c != '\'') {
                return None;
            }
            read.push_str(inner);
            rest = after;
        } else {
            let end = rest.find(['\'', '"']).unwrap_or(rest.len());
            let (plain, after) = rest.split_at(end);
            if !is_plain_word(plain) {
                return None;
            }
            read.push_str(plain);
            rest = after;
        }
    }
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "source /h/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null || true && \
        \\builtin shopt -u extglob 2>/dev/null || true && { \\builtin unalias -- 'which'; \\builtin unset -f -- 'which'; } \
        >/dev/null 2>&1 || true && ";

    fn claude(call: &str) -> Option<String> {
        let script = format!("{BEFORE}eval {call} && pwd -P >| /tmp/claude-1-cwd");
        unwrap(Some(Kind::Claude), &script).map(Cow::into_owned)
    }

    #[test]
    fn what_claude_wraps_is_read_back() {
        for (call, expected) in [
            ("'echo hello' < /dev/null", Some("echo hello")),
            ("pwd < /dev/null", Some("pwd")),
            ("'wc -c < big.txt'", Some("wc -c < big.txt")),
            (r#"'echo '"'"'a'"'"''"#, Some("echo 'a'")),
            ("'a && pwd -P >| b' < /dev/null", Some("a && pwd -P >| b")),
            ("'a' 'b'", None),
            ("$(rm -rf x)", None),
            ("'a'; rm x", None),
            ("\"$x\"", None),
            ("", None),
        ] {
            assert_eq!(claude(call).as_deref(), expected, "{call}");
        }
    }

    #[test]
    fn whatever_else_stands_around_it_is_shown_whole() {
        for script in [
            "ls",
            "source /x 2>/dev/null || true && rm -rf / && eval ls && pwd -P >| /tmp/f",
            "source /x$(evil) 2>/dev/null || true && eval ls && pwd -P >| /tmp/f",
            "source /x 2>/dev/null || true && eval ls && pwd -P >| /tmp/f; rm x",
            "source /x 2>/dev/null || true && eval ls && rm x",
        ] {
            assert_eq!(unwrap(Some(Kind::Claude), script), None, "{script}");
        }
        let gemini = |command: &str| format!("{GEMINI_BEGIN}/tmp/g/x.tmp{GEMINI_TRAP}{command}{GEMINI_END}");
        assert_eq!(unwrap(Some(Kind::Gemini), &gemini("ls\npwd")).as_deref(), Some("ls\npwd"));
        assert_eq!(unwrap(Some(Kind::Gemini), "ls"), None);
        assert_eq!(unwrap(Some(Kind::Opencode), "ls").as_deref(), Some("ls"));
        assert_eq!(unwrap(None, "ls"), None);
    }
}
