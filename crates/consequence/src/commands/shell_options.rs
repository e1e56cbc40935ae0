//! `set` and `shopt`: the options of the shell that change what is computed, and those that do not.

use crate::command_end::{CommandEnd, Outcome};
use crate::fields::Argument;
use crate::interpreter::Interpreter;

/// The options of `set` and `shopt` that change what is computed.
const OPTIONS: [(&str, &str); 13] = [
    ("e", "errexit"),
    ("u", "nounset"),
    ("f", "noglob"),
    ("C", "noclobber"),
    ("a", "allexport"),
    ("x", "xtrace"),
    ("", "pipefail"),
    ("", "nullglob"),
    ("", "dotglob"),
    ("", "failglob"),
    ("", "globstar"),
    ("", "nocaseglob"),
    ("", "extglob"),
];
/// Options that change nothing of it.
const NEUTRAL: &str = " v b h m E T H verbose notify hashall monitor errtrace functrace histexpand history emacs vi nolog \
    interactive-comments ignoreeof checkwinsize cmdhist checkjobs complete_fullquote expand_aliases extquote \
    force_fignore histappend histreedit histverify hostcomplete huponexit interactive_comments lithist login_shell \
    mailwarn no_empty_cmd_completion progcomp promptvars sourcepath xpg_echo ";

impl Interpreter<'_> {
    pub(crate) fn shopt(&mut self, arguments: &[Argument]) -> CommandEnd {
        let has = |letter: char| {
            let options =
                arguments.iter().filter_map(Argument::known_text).filter(|text| text.starts_with('-'));
            options.into_iter().any(|text| text.contains(letter))
        };
        let (sets, clears) = (has('s'), has('u'));
        for argument in arguments {
            match argument.known_text() {
                Some(text) if text.starts_with('-') || !(sets || clears) => {}
                Some(text) => self.named_option(text, sets),
                None => self.not_known(format!("what shopt {} changes", argument.display_text())),
            }
        }
        CommandEnd { outcome: Outcome::Unknown, output: (sets || clears).then(String::new) }
    }

    /// Sets an option by its name, or by its letter.
    fn named_option(&mut self, name: &str, is_on: bool) {
        if let Some((_, option)) = OPTIONS.iter().find(|(short, option)| *option == name || *short == name) {
            if is_on {
                self.state.options.insert(option);
            } else {
                self.state.options.remove(option);
            }
            if *option == "xtrace"
                && self.state.get("PS4").is_some_and(|prompt| prompt.said_text().contains(['$', '`']))
            {
                self.not_known("what PS4 runs");
            }
        } else if !NEUTRAL.contains(&format!(" {name} ")) {
            self.not_known(format!("what the shell's option {name} changes"));
        }
    }

    pub(crate) fn set_options(&mut self, arguments: &[Argument]) -> CommandEnd {
        let mut left = arguments.iter();
        while let Some(argument) = left.next() {
            let Some(text) = argument.known_text() else {
                self.not_known(format!("what set {} changes", argument.display_text()));
                self.state.parameters = None;
                break;
            };
            let is_on = text.starts_with('-');
            match text {
                "--" => {
                    self.state.parameters = left.map(|one| one.known_text().map(str::to_owned)).collect();
                    break;
                }
                "-" => {
                    let rest: Vec<&Argument> = left.collect();
                    if !rest.is_empty() {
                        self.state.parameters =
                            rest.into_iter().map(|one| one.known_text().map(str::to_owned)).collect();
                    }
                    break;
                }
                _ if !text.starts_with(['-', '+']) || text.len() < 2 => {
                    let all = std::iter::once(argument).chain(left);
                    self.state.parameters = all.map(|one| one.known_text().map(str::to_owned)).collect();
                    break;
                }
                _ => {}
            }
            for letter in text[1..].chars() {
                if letter != 'o' {
                    self.named_option(&letter.to_string(), is_on);
                } else if let Some(name) = left.next() {
                    self.named_option(name.known_text().unwrap_or("that is not known"), is_on);
                }
            }
        }
        CommandEnd { outcome: Outcome::Success, output: (!arguments.is_empty()).then(String::new) }
    }
}
