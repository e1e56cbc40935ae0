//! Compound commands: groups, conditions and loops, and the functions that are called.

use brush_parser::ast::{
    CaseClauseCommand, CompoundCommand, CompoundList, ForClauseCommand, IfClauseCommand, IoRedirect,
};

use crate::command_end::{CommandEnd, Flow, Input, Outcome};
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::shell_state::Value;

/// The most rounds of a loop over known words that are gone through one by one.
const MOST_ROUNDS: usize = 500;
/// How often a loop is gone through until its variables no longer change.
const PASSES: usize = 4;

impl Interpreter<'_> {
    pub(crate) fn run_compound(&mut self, command: &CompoundCommand) -> CommandEnd {
        match command {
            CompoundCommand::BraceGroup(group) => self.run_list(&group.list),
            CompoundCommand::Subshell(shell) => self.in_subshell(|own| own.run_list(&shell.list)),
            CompoundCommand::ForClause(clause) => self.run_for(clause),
            CompoundCommand::CaseClause(clause) => self.run_case(clause),
            CompoundCommand::IfClause(clause) => self.run_if(clause),
            CompoundCommand::WhileClause(clause) => self.run_while(&clause.0, &clause.1.list, true),
            CompoundCommand::UntilClause(clause) => self.run_while(&clause.0, &clause.1.list, false),
            CompoundCommand::Arithmetic(arithmetic) => {
                self.arithmetic(&arithmetic.expr.value);
                CommandEnd::silent(Outcome::Unknown)
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                let compute = |shell: &mut Self| {
                    parts.into_iter().flatten().for_each(|part| {
                        shell.arithmetic(&part.value);
                    });
                };
                compute(self);
                self.loop_over(|shell| {
                    let end = shell.run_list(&clause.body.list);
                    compute(shell);
                    end
                })
            }
        }
    }

    fn run_if(&mut self, clause: &IfClauseCommand) -> CommandEnd {
        let mut parts = vec![(Some(&clause.condition), &clause.then)];
        let elses = clause.elses.iter().flatten();
        parts.extend(elses.map(|part| (part.condition.as_ref(), &part.body)));
        self.run_parts(&parts)
    }

    /// Goes through the first part whose condition holds, or all that may be it.
    fn run_parts(&mut self, parts: &[(Option<&CompoundList>, &CompoundList)]) -> CommandEnd {
        let Some(((condition, body), rest)) = parts.split_first() else {
            return CommandEnd::silent(Outcome::Success);
        };
        let Some(condition) = condition else { return self.run_list(body) };
        let outcome = self.ignoring(|shell| shell.run_list(condition)).outcome;
        match outcome {
            _ if self.flow != Flow::On => CommandEnd::unknown(),
            Outcome::Success => self.run_list(body),
            Outcome::Failure => self.run_parts(rest),
            Outcome::Likely | Outcome::Unknown => {
                let before = (self.state.clone(), self.files.clone());
                self.branch(|shell| shell.run_list(body));
                let (state, files) = (self.state.clone(), self.files.clone());
                // The other parts begin where this one did.
                files_of(self, before);
                self.branch(|shell| shell.run_parts(rest));
                self.merge(&state);
                for path in self.files.merge(&files) {
                    self.not_known(format!("what {} is by then", self.display_path(&path)));
                }
                CommandEnd::unknown()
            }
        }
    }

    fn run_for(&mut self, clause: &ForClauseCommand) -> CommandEnd {
        let values: Vec<Argument> = match &clause.values {
            Some(words) => self.arguments_of(words.iter().map(|word| &*word.value)),
            None => match self.state.parameters.clone() {
                Some(all) => all.into_iter().map(Argument::text).collect(),
                None => vec![Argument::Unknown("$@".to_owned())],
            },
        };
        let name = &clause.variable_name;
        let unknown = values.iter().find_map(|value| match value {
            Argument::Unknown(from) => Some(from.clone()),
            Argument::Known(_) => None,
        });
        if unknown.is_some() || values.len() > MOST_ROUNDS {
            let from = unknown.unwrap_or_else(|| "more words than are gone through".to_owned());
            return self.loop_over(|shell| {
                shell.set(name, Value::Unknown(format!("${name} (from {from})")));
                shell.run_list(&clause.body.list)
            });
        }
        self.in_loop(|shell| {
            let mut end = CommandEnd::silent(Outcome::Success);
            for value in &values {
                shell.set(name, Value::Text(value.display_text().to_owned()));
                end = shell.run_list(&clause.body.list);
                match shell.flow {
                    Flow::On => {}
                    Flow::Continue => shell.flow = Flow::On,
                    Flow::Break => {
                        shell.flow = Flow::On;
                        break;
                    }
                    Flow::Return | Flow::Exit => break,
                }
            }
            CommandEnd { output: None, ..end }
        })
    }

    /// Goes through a loop. Where it may have been left before its end, what differs by then is forgotten.
    fn in_loop(&mut self, run: impl FnOnce(&mut Self) -> CommandEnd) -> CommandEnd {
        let outer = self.left_loop.take();
        self.loops += 1;
        let mut end = run(self);
        self.loops -= 1;
        if let Some(left) = std::mem::replace(&mut self.left_loop, outer) {
            self.merge(&left);
            end.outcome = Outcome::Unknown;
        }
        end
    }

    fn run_while(&mut self, condition: &CompoundList, body: &CompoundList, holds: bool) -> CommandEnd {
        let outcome = self.ignoring(|shell| shell.run_list(condition)).outcome;
        let never = if holds { Outcome::Failure } else { Outcome::Success };
        if outcome == never || self.flow != Flow::On {
            return CommandEnd::silent(Outcome::Success);
        }
        self.loop_over(|shell| {
            let end = shell.run_list(body);
            if shell.flow == Flow::Continue {
                shell.flow = Flow::On;
            }
            if shell.flow == Flow::On {
                shell.ignoring(|shell| shell.run_list(condition));
            }
            end
        })
    }

    /// Goes through a body that runs any number of times, until nothing changes any more.
    fn loop_over(&mut self, mut body: impl FnMut(&mut Self) -> CommandEnd) -> CommandEnd {
        let conditions = self.conditions;
        self.in_loop(|shell| {
            for pass in 1..=PASSES {
                let before = (shell.state.clone(), shell.files.clone());
                let mut flow = Flow::On;
                shell.branch(|shell| {
                    let end = body(shell);
                    flow = std::mem::replace(&mut shell.flow, Flow::On);
                    if flow == Flow::Exit {
                        shell.may_exit();
                    }
                    end
                });
                if matches!(flow, Flow::Return | Flow::Exit) {
                    // Whether it comes to that is not known.
                    shell.conditions = shell.conditions.max(conditions + 1);
                }
                if flow == Flow::Return {
                    let state = Some(shell.state.clone());
                    shell.left_call = shell.left_call.take().or(state);
                }
                if shell.state.is_same(&before.0) && shell.files.is_same(&before.1) {
                    break;
                }
                if pass == PASSES {
                    shell.not_known("what a loop does in later rounds");
                }
            }
            CommandEnd::unknown()
        })
    }

    fn run_case(&mut self, clause: &CaseClauseCommand) -> CommandEnd {
        let value = self.text_of_word(&clause.value.value).ok();
        let is_plain = |case: &brush_parser::ast::CaseItem| {
            matches!(case.post_action, brush_parser::ast::CaseItemPostAction::ExitCase)
        };
        let mut is_certain = value.is_some() && clause.cases.iter().all(is_plain);
        for case in &clause.cases {
            let fits = case.patterns.iter().map(|word| {
                let pattern = self.pattern_of_word(&word.value)?;
                value.as_ref().and_then(|value| self.fits(&pattern, value))
            });
            let fits: Vec<Option<bool>> = fits.collect();
            let is_match = fits.contains(&Some(true));
            is_certain &= is_match || !fits.contains(&None);
            let Some(list) = &case.cmd else {
                if is_match && is_certain {
                    break;
                }
                continue;
            };
            if is_certain && is_match {
                return self.run_list(list);
            }
            if !is_certain {
                self.branch(|shell| shell.run_list(list));
            }
        }
        CommandEnd::unknown()
    }

    /// Calls a function.
    pub(crate) fn call(&mut self, name: &str, arguments: &[Argument], input: &Input) -> CommandEnd {
        let Some(Some(body)) = self.state.functions.get(name).cloned() else {
            return self.note_unknown(format!("what the function {name} does"));
        };
        let all: Option<Vec<String>> =
            arguments.iter().map(|argument| argument.known_text().map(str::to_owned)).collect();
        let before = std::mem::replace(&mut self.state.parameters, all);
        let outer = (self.left_call.take(), self.left_loop.take(), std::mem::take(&mut self.loops));
        let (locals, conditions) = (self.locals.len(), self.conditions);
        self.deep += 1;
        self.calls += 1;
        let redirects: Vec<&IoRedirect> = body.1.iter().flat_map(|list| &list.0).collect();
        let mut end = self.apply_redirects(&redirects, input, |shell, _| shell.run_compound(&body.0));
        self.calls -= 1;
        self.deep -= 1;
        if self.flow == Flow::Return {
            self.flow = Flow::On;
            end.outcome = Outcome::Unknown;
        }
        (self.left_loop, self.loops) = (outer.1, outer.2);
        if let Some(left) = std::mem::replace(&mut self.left_call, outer.0) {
            self.merge(&left);
            end.outcome = Outcome::Unknown;
        }
        self.state.parameters = before;
        self.restore_locals(locals, conditions);
        end
    }

    /// Gives variables that were local to a function what they were outside of it.
    fn restore_locals(&mut self, from: usize, conditions: usize) {
        for (name, value, under) in self.locals.split_off(from.min(self.locals.len())).into_iter().rev() {
            if under > conditions {
                self.set(&name, Value::Unknown(format!("${name} (perhaps local)")));
                continue;
            }
            self.state.restore(name, value);
        }
    }
}

fn files_of<'a>(
    shell: &mut Interpreter<'a>,
    (state, files): (crate::shell_state::ShellState, crate::changes::ChangedFiles<'a>),
) {
    let looked = std::mem::replace(&mut shell.files, files);
    shell.files.counts_of(&looked);
    shell.state = state;
}
