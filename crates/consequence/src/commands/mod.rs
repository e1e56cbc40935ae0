//! The commands whose cost is known, the wrappers that are looked through, and what is said of all others.

mod builtin;
mod find;
mod find_expression;
mod git;
mod git_history;
mod git_remote;
mod loss;
mod named;
mod options;
mod remove;
mod transfer;
mod wrapper;
mod write;

use crate::command_end::{CommandEnd, Input, Outcome};
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::names::shortened;

/// Programs that change no files of their own accord.
const HARMLESS: [&str; 84] = [
    "ls",
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "wc",
    "cut",
    "tr",
    "uniq",
    "diff",
    "cmp",
    "comm",
    "join",
    "paste",
    "nl",
    "od",
    "xxd",
    "hexdump",
    "strings",
    "file",
    "stat",
    "du",
    "df",
    "date",
    "cal",
    "uptime",
    "whoami",
    "id",
    "groups",
    "hostname",
    "uname",
    "ps",
    "pgrep",
    "top",
    "free",
    "which",
    "whereis",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "sleep",
    "seq",
    "yes",
    "expr",
    "bc",
    "jq",
    "fold",
    "column",
    "rev",
    "tac",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "base64",
    "printenv",
    "tty",
    "stty",
    "clear",
    "tput",
    "locale",
    "nproc",
    "lscpu",
    "lsblk",
    "mount",
    "lsof",
    "netstat",
    "ss",
    "ping",
    "dig",
    "nslookup",
    "host",
    "tree",
    "chmod",
    "chown",
    "kill",
];
/// The folders whose programs are what their names say.
const SYSTEM: [&str; 6] = ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"];

impl Interpreter<'_> {
    /// Goes through a command, given as its arguments.
    pub(crate) fn dispatch(&mut self, arguments: &[Argument], input: &Input) -> CommandEnd {
        let Some((program, rest)) = arguments.split_first() else {
            return CommandEnd::silent(Outcome::Success);
        };
        let Some(text) = program.known().map(str::to_owned) else {
            self.not_known(format!("which program runs: {}", program.shown()));
            return CommandEnd::unknown();
        };
        if self.state.functions.contains_key(&text) {
            return self.call(&text, rest, input);
        }
        let name = match text.rsplit_once('/') {
            Some((folder, name)) if SYSTEM.contains(&folder) => name,
            Some(_) => "",
            None => &text,
        };
        if !text.contains('/')
            && let Some(end) = self.builtin(name, rest, input)
        {
            return end;
        }
        if let Some(end) = self.wrapper(name, rest, input) {
            return end;
        }
        match name {
            "rm" => self.rm(rest),
            "rmdir" => self.rmdir(rest),
            "unlink" => self.unlink(rest),
            "shred" => self.shred(rest),
            "mv" => self.mv(rest),
            "cp" | "install" => self.cp(name, rest),
            "ln" => self.ln(rest),
            "tee" => self.tee(rest),
            "truncate" => self.truncate(rest),
            "dd" => self.dd(rest),
            "sed" => self.sed(rest),
            "mkdir" | "touch" => self.make_files(name, rest),
            "find" => self.find(rest),
            "git" => self.run_git(rest),
            "cat" if rest.is_empty() => CommandEnd { outcome: Outcome::Success, output: input.clone().ok() },
            "basename" | "dirname" => self.part_of_path(name, rest),
            _ => {
                if self.is_elsewhere(name, rest) {
                    return CommandEnd::unknown();
                }
                if !HARMLESS.contains(&name) {
                    let words: Vec<&str> = arguments.iter().map(Argument::shown).take(6).collect();
                    self.not_known(format!("what {} does", shortened(&words.join(" "))));
                }
                CommandEnd::unknown()
            }
        }
    }

    fn part_of_path(&self, name: &str, arguments: &[Argument]) -> CommandEnd {
        let [argument] = arguments else { return CommandEnd::unknown() };
        let Some(text) =
            argument.known().map(|text| text.trim_end_matches('/')).filter(|text| !text.is_empty())
        else {
            return CommandEnd::unknown();
        };
        let part = match (name, text.rsplit_once('/')) {
            ("basename", None) => text,
            ("basename", Some((_, last))) => last,
            (_, None) => ".",
            (_, Some(("", _))) => "/",
            (_, Some((before, _))) => before,
        };
        CommandEnd::printed(Outcome::Success, format!("{part}\n"))
    }
}
