//! Parts that run beside the line, or perhaps not at all: shells below this one, branches, and what runs at the end.

use crate::command_end::{CommandEnd, Flow, Outcome};
use crate::interpreter::Interpreter;
use crate::shell_state::{Dialect, ShellState};

impl Interpreter<'_> {
    /// Returns what a command prints, going through it in a shell below this one.
    pub(crate) fn substitute(&mut self, text: &str) -> Option<String> {
        // There bash does not end at a failure; others do.
        let ends = self.state.options.take("errexit");
        let output = self.in_subshell(|shell| shell.run_text(text)).output;
        self.state.options.extend(ends);
        output.filter(|_| ends.is_none() || self.state.dialect == Dialect::Bash)
    }

    pub(crate) fn in_subshell(&mut self, run: impl FnOnce(&mut Self) -> CommandEnd) -> CommandEnd {
        self.holding(self.state.bytes(), |shell| shell.in_held_subshell(run))
    }

    fn in_held_subshell(&mut self, run: impl FnOnce(&mut Self) -> CommandEnd) -> CommandEnd {
        let (state, conditions) = (self.state.clone(), self.conditions);
        let at_exit = std::mem::take(&mut self.at_exit);
        let loops = std::mem::take(&mut self.loops);
        let left = (self.left_loop.take(), self.left_call.take(), self.locals.len());
        let end = run(self);
        self.run_at_exit();
        (self.state, self.at_exit, self.conditions, self.loops) = (state, at_exit, conditions, loops);
        (self.left_loop, self.left_call) = (left.0, left.1);
        self.locals.truncate(left.2);
        // What ends it does not end this one.
        self.flow = Flow::On;
        end
    }

    /// Goes through what runs when the shell ends.
    pub(crate) fn run_at_exit(&mut self) {
        self.flow = Flow::On;
        for text in std::mem::take(&mut self.at_exit) {
            self.conditions += 1;
            self.run_text(&text);
        }
    }

    /// Goes through what runs when the shell ends, because it may end here.
    pub(crate) fn may_exit(&mut self) {
        let flow = std::mem::replace(&mut self.flow, Flow::On);
        for text in self.at_exit.clone() {
            self.conditions += 1;
            self.in_subshell(|shell| shell.run_text(&text));
            self.conditions -= 1;
        }
        self.flow = flow;
        self.doubt_rest();
    }

    /// Goes through a part that may run or not.
    pub(crate) fn branch(&mut self, run: impl FnOnce(&mut Self) -> CommandEnd) -> CommandEnd {
        self.holding(self.state.bytes() + self.files.bytes(), |shell| shell.held_branch(run))
    }

    fn held_branch(&mut self, run: impl FnOnce(&mut Self) -> CommandEnd) -> CommandEnd {
        let (state, files) = (self.state.clone(), self.files.clone());
        self.steps += files.len() / 8;
        self.conditions += 1;
        let end = run(self);
        if self.flow == Flow::Exit {
            self.may_exit();
        }
        self.conditions -= 1;
        let state = std::mem::replace(&mut self.state, state);
        let files = std::mem::replace(&mut self.files, files);
        match std::mem::replace(&mut self.flow, Flow::On) {
            Flow::On => self.merge(&state),
            flow => {
                match flow {
                    Flow::Break | Flow::Continue => {
                        self.left_loop = self.either(self.left_loop.clone(), state)
                    }
                    Flow::Return => self.left_call = self.either(self.left_call.clone(), state),
                    Flow::On | Flow::Exit => {}
                }
                self.doubt_rest();
            }
        }
        for path in self.files.merge(&files) {
            self.not_known(format!("what {} is by then", self.display_path(&path)));
        }
        CommandEnd { outcome: Outcome::Unknown, output: end.output.filter(String::is_empty) }
    }

    fn either(&mut self, left: Option<ShellState>, state: ShellState) -> Option<ShellState> {
        let Some(mut left) = left else { return Some(state) };
        left.merge(&state);
        Some(left)
    }

    /// Forgets whatever differs in another state that may hold instead.
    pub(crate) fn merge(&mut self, other: &ShellState) {
        for option in self.state.merge(other).into_iter().filter(|option| *option != "xtrace") {
            self.not_known(format!("whether the shell's {option} is set by then"));
        }
    }

    /// Goes through a text whose substitutions may run or not.
    pub(crate) fn visit(&mut self, written: &str) {
        if written.contains(['$', '`']) {
            self.branch(|shell| {
                let _ = shell.text_of_word(written);
                CommandEnd::unknown()
            });
        }
    }
}
