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
mod place;
mod remove;
mod sed;
mod shell_options;
mod table;
mod transfer;
mod wrapper;
mod write;
mod xargs;

pub(crate) use self::write::WriteMode;

use self::table::KnownProgram;
use crate::command_end::{CommandEnd, Input, Outcome};
use crate::fields::{Argument, shown_words};
use crate::interpreter::Interpreter;

/// The folders whose programs are what their names say.
const SYSTEM: [&str; 6] = ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"];

/// Programs that say themselves which of their operands are not known.
const COMPUTED: [&str; 14] = [
    "rm", "rmdir", "unlink", "shred", "mv", "cp", "install", "ln", "tee", "truncate", "dd", "sed", "mkdir",
    "touch",
];

/// Tells whether a program, by its name, changes nothing and runs nothing.
pub(crate) fn reads_only(name: &str) -> bool {
    let is_known =
        KnownProgram::of(name).is_some() && !COMPUTED.contains(&name) && !wrapper::WRAPPERS.contains(&name);
    is_known || matches!(name, "echo" | "printf" | "pwd" | "true" | "sed" | "git")
}

/// Says that it is not known what a command does.
fn unread_command(arguments: &[Argument]) -> String {
    format!("what {} does", shown_words(arguments.get(..6).unwrap_or(arguments)))
}

impl Interpreter<'_> {
    /// Goes through a command, given as its arguments.
    pub(crate) fn dispatch(&mut self, arguments: &[Argument], input: &Input) -> CommandEnd {
        let Some((program, rest)) = arguments.split_first() else {
            return CommandEnd::silent(Outcome::Success);
        };
        let Some(text) = program.known_text().map(str::to_owned) else {
            return self.note_unknown(format!("which program runs: {}", program.display_text()));
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
        self.check_place(&text, name);
        if let Some(end) = self.wrapper(name, rest, input) {
            return end;
        }
        let known = KnownProgram::of(name);
        if known.is_some_and(|known| !known.takes(rest, COMPUTED.contains(&name))) {
            return self.note_unknown(unread_command(arguments));
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
            "cat" if rest.is_empty() => CommandEnd { outcome: Outcome::Likely, output: input.clone().ok() },
            "basename" | "dirname" => self.part_of_path(name, rest),
            _ => {
                if self.is_elsewhere(name, rest) {
                    return CommandEnd::unknown();
                }
                if known.is_none() {
                    self.not_known(unread_command(arguments));
                }
                CommandEnd::unknown()
            }
        }
    }

    fn part_of_path(&self, name: &str, arguments: &[Argument]) -> CommandEnd {
        let [argument] = arguments else { return CommandEnd::unknown() };
        let Some(text) =
            argument.known_text().map(|text| text.trim_end_matches('/')).filter(|text| !text.is_empty())
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
        CommandEnd::with_output(Outcome::Success, format!("{part}\n"))
    }
}
