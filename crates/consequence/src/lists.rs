//! Lists and pipelines: which of their commands run, and what follows from how they end.

use std::rc::Rc;

use brush_parser::ast::{
    self, AndOr, AndOrList, Command, CompoundCommand, CompoundList, IoRedirect, Pipeline, SeparatorOperator,
};

use crate::command_end::{CommandEnd, Flow, Input, Outcome, combine};
use crate::commands::reads_only;
use crate::interpreter::{Interpreter, MOST_DEEP};
use crate::names::shorten;
use crate::shell_state::Dialect;

/// Said of commands that change files while others run.
const AT_ONCE: &str = "in which order what runs at the same time does its work";

impl Interpreter<'_> {
    /// Goes through a list of commands.
    pub(crate) fn run_list(&mut self, list: &CompoundList) -> CommandEnd {
        let mut end = CommandEnd::silent(Outcome::Success);
        self.deep += 1;
        for ast::CompoundListItem(item, separator) in &list.0 {
            if self.flow != Flow::On {
                break;
            }
            let next = if matches!(separator, SeparatorOperator::Async) {
                let before = self.files.clone();
                self.in_subshell(|shell| shell.run_and_or(item));
                if !self.files.is_same(&before) {
                    self.not_known(AT_ONCE);
                }
                CommandEnd { outcome: Outcome::Success, output: None }
            } else {
                self.run_and_or(item)
            };
            end = combine(end, next);
        }
        self.deep -= 1;
        end
    }

    /// Does something whose failure does not end the shell.
    pub(crate) fn ignoring(&mut self, run: impl FnOnce(&mut Self) -> CommandEnd) -> CommandEnd {
        self.ignored += 1;
        let end = run(self);
        self.ignored -= 1;
        end
    }

    fn run_and_or(&mut self, list: &AndOrList) -> CommandEnd {
        let mut left = list.additional.len();
        let part = |shell: &mut Self, pipeline: &Pipeline, is_last: bool| match is_last && !pipeline.bang {
            true => shell.run_pipeline(pipeline),
            false => shell.ignoring(|shell| shell.run_pipeline(pipeline)),
        };
        let mut end = part(self, &list.first, left == 0);
        for next in &list.additional {
            if self.flow != Flow::On {
                return end;
            }
            left -= 1;
            let (pipeline, is_and) = match next {
                AndOr::And(pipeline) => (pipeline, true),
                AndOr::Or(pipeline) => (pipeline, false),
            };
            let next = match (is_and, end.outcome) {
                (true, Outcome::Failure) | (false, Outcome::Success) => continue,
                (true, Outcome::Success | Outcome::Likely) | (false, Outcome::Failure) => {
                    part(self, pipeline, left == 0)
                }
                (_, Outcome::Unknown) | (false, Outcome::Likely) => {
                    let likely = end.outcome == Outcome::Likely;
                    let next = self.branch(|shell| part(shell, pipeline, left == 0));
                    if likely { CommandEnd { outcome: Outcome::Likely, ..next } } else { next }
                }
            };
            end = combine(end, next);
        }
        if self.state.has("errexit") && self.ignored == 0 && self.flow == Flow::On {
            match end.outcome {
                Outcome::Failure if list.additional.is_empty() && ends_shell(&list.first) => {
                    self.exit_shell()
                }
                Outcome::Failure | Outcome::Unknown => self.may_exit(),
                Outcome::Success | Outcome::Likely => {}
            }
        }
        end
    }

    fn run_pipeline(&mut self, pipeline: &Pipeline) -> CommandEnd {
        let mut end = match &pipeline.seq[..] {
            [one] => self.run_command(one, &Err("the terminal".to_owned())),
            stages => self.run_stages(stages),
        };
        if pipeline.bang {
            end.outcome = end.outcome.negation();
        }
        end
    }

    fn run_stages(&mut self, stages: &[Command]) -> CommandEnd {
        let mut input = Err("the terminal".to_owned());
        let mut end = CommandEnd::silent(Outcome::Success);
        let (mut worst, mut changing, mut others) = (Outcome::Success, 0, 0);
        for (at, stage) in stages.iter().enumerate() {
            let before = self.files.clone();
            let is_last = at + 1 == stages.len();
            end = if is_last && matches!(self.state.dialect, Dialect::Ksh | Dialect::Zsh) {
                self.run_command(stage, &input)
            } else {
                self.in_subshell(|shell| shell.run_command(stage, &input))
            };
            worst = worst.worse(end.outcome);
            input = end.output.clone().ok_or(shorten(&stage.to_string()));
            if !self.files.is_same(&before) {
                changing += 1;
            } else if !self.only_reads(stage) {
                others += 1;
            }
        }
        // What else runs may find the files as they were, or as they will be.
        if changing > 1 || (changing > 0 && others > 0) {
            self.not_known(AT_ONCE);
        }
        if self.state.has("pipefail") {
            end.outcome = worst;
        }
        end
    }

    /// Tells whether a command does the same whatever happens to files meanwhile, but for what it prints.
    fn only_reads(&self, command: &Command) -> bool {
        let list = match command {
            Command::Simple(simple) => {
                let name = simple.word_or_name.as_ref().map_or("", |word| &*word.value);
                return !self.state.functions.contains_key(name) && reads_only(name);
            }
            Command::Compound(CompoundCommand::Subshell(shell), None) => &shell.list,
            Command::Compound(CompoundCommand::BraceGroup(group), None) => &group.list,
            _ => return false,
        };
        let reads = |list: &AndOrList| {
            list.additional.is_empty() && list.first.seq.iter().all(|command| self.only_reads(command))
        };
        list.0.iter().all(|item| reads(&item.0))
    }

    fn run_command(&mut self, command: &Command, input: &Input) -> CommandEnd {
        self.steps += 1;
        if self.deep > MOST_DEEP {
            return self.stop();
        }
        if !self.spend(0) {
            return CommandEnd::unknown();
        }
        match command {
            Command::Simple(simple) => self.run_simple(simple, input),
            Command::Compound(compound, redirects) => {
                let redirects: Vec<&IoRedirect> = redirects.iter().flat_map(|list| &list.0).collect();
                self.apply_redirects(&redirects, input, |shell, _| shell.run_compound(compound))
            }
            Command::Function(function) => {
                if !self.spend(64 * function.to_string().len()) {
                    return CommandEnd::unknown();
                }
                let name = function.fname.value.clone();
                if name == "command_not_found_handle" || self.state.has("allexport") {
                    self.not_known(format!("where the function {name} is called"));
                }
                self.state.functions.insert(name, Some(Rc::new(function.body.clone())));
                CommandEnd::silent(Outcome::Success)
            }
            Command::ExtendedTest(test) => CommandEnd::silent(self.extended_test(&test.expr)),
        }
    }
}

/// Tells whether a failure of this ends a shell with `set -e`. What failed within it may have been a condition.
fn ends_shell(pipeline: &Pipeline) -> bool {
    !pipeline.bang
        && match &pipeline.seq[..] {
            [Command::Simple(simple)] => simple
                .word_or_name
                .as_ref()
                .is_none_or(|word| !matches!(&*word.value, "eval" | "." | "source")),
            [Command::Compound(compound, _)] => matches!(compound, CompoundCommand::Subshell(_)),
            _ => true,
        }
}
