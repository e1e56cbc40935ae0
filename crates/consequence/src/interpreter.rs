//! The interpreter: it goes through a line as bash would, and notes what each command would cost instead of running it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use brush_parser::ast;

use crate::changes::ChangedFiles;
use crate::command_end::{CommandEnd, Flow, Outcome, combine};
use crate::consequence::{Consequence, Fact};
use crate::guard;
use crate::look::{GitFiles, Look};
use crate::names::{cut, path_of, shorten, text_of};
use crate::request::ConsequenceRequest;
use crate::shell_state::{Dialect, ShellState, Value, Variable};

/// The most commands that are gone through.
const MOST_STEPS: usize = 20_000;
/// The most bytes of text that are made, all together.
const MOST_MADE: usize = 16 << 20;
/// The most bytes of shells, with their files, that wait for one below them to end, and of texts that are being run.
const MOST_HELD: usize = 8 << 20;
/// The deepest nesting of lists, functions and texts that are run.
pub(crate) const MOST_DEEP: usize = 60;
/// The most facts, and the most things that are not known, of one line.
const MOST_SAID: usize = 200;

/// Variables and settings of git that name an editor.
pub(crate) const EDITORS: [&str; 6] =
    ["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "VISUAL", "EDITOR", "core.editor", "sequence.editor"];

/// The interpreter of one line.
pub(crate) struct Interpreter<'a> {
    pub(crate) request: &'a ConsequenceRequest,
    pub(crate) state: ShellState,
    pub(crate) files: ChangedFiles<'a>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) unknown: Vec<String>,
    /// How many conditions stand between here and the line's beginning.
    pub(crate) conditions: usize,
    pub(crate) flow: Flow,
    pub(crate) deep: usize,
    pub(crate) steps: usize,
    made: usize,
    held: usize,
    /// In how many conditions, whose failures do not end the shell, this is.
    pub(crate) ignored: usize,
    /// In how many loops, and in how many functions, this shell is.
    pub(crate) loops: usize,
    pub(crate) calls: usize,
    /// The states in which a loop, or a function, may have been left before its end.
    pub(crate) left_loop: Option<ShellState>,
    pub(crate) left_call: Option<ShellState>,
    /// What variables of functions were outside of them, and under how many conditions that was kept.
    pub(crate) locals: Vec<(String, Option<Variable>, usize)>,
    pub(crate) git: BTreeMap<PathBuf, Option<Rc<GitFiles>>>,
    /// The top of the repository of each folder that was asked about.
    pub(crate) tops: BTreeMap<PathBuf, Option<PathBuf>>,
    /// What is run when the shell ends.
    pub(crate) at_exit: Vec<String>,
    /// The editors that the line names; `None` is one that is not known.
    pub(crate) editors: BTreeSet<Option<String>>,
}

/// Computes what a command line would cost. Run it on a thread with a stack of [`crate::STACK`].
#[must_use]
pub fn compute(request: &ConsequenceRequest, look: &dyn Look) -> Consequence {
    // A fault in here must not end whoever asks.
    let computed = catch_unwind(AssertUnwindSafe(|| Interpreter::new(request, look).consequence()));
    computed.unwrap_or_else(|_| Consequence::unknown("any of it: it could not be looked through"))
}

impl<'a> Interpreter<'a> {
    fn new(request: &'a ConsequenceRequest, look: &'a dyn Look) -> Self {
        let exported = |value: &String| Variable { value: Value::Text(value.clone()), is_exported: true };
        let variables = request.environment.iter().flatten();
        let doubt = request.environment.is_none().then_some("the environment is not known here");
        let mut state = ShellState {
            variables: variables.map(|(name, value)| (name.clone(), exported(value))).collect(),
            folder: Some(request.folder.clone()),
            parameters: Some(Vec::new()),
            doubt: doubt.map(str::to_owned),
            dialect: Dialect::of(&request.shell),
            ..ShellState::default()
        };
        // Every shell begins with its own.
        for own in ["IFS", "PWD", "OLDPWD", "_"] {
            state.variables.remove(own);
        }
        let functions = state.variables.keys().filter_map(|name| name.strip_prefix("BASH_FUNC_"));
        let functions: Vec<String> = functions.map(|name| name.trim_end_matches("%%").to_owned()).collect();
        state.functions.extend(functions.into_iter().map(|name| (name, None)));
        Self {
            request,
            state,
            files: ChangedFiles::new(look),
            facts: Vec::new(),
            unknown: Vec::new(),
            conditions: 0,
            flow: Flow::On,
            deep: 0,
            steps: 0,
            made: 0,
            held: 0,
            ignored: 0,
            loops: 0,
            calls: 0,
            left_loop: None,
            left_call: None,
            locals: Vec::new(),
            git: BTreeMap::new(),
            tops: BTreeMap::new(),
            at_exit: Vec::new(),
            editors: BTreeSet::new(),
        }
    }

    fn consequence(mut self) -> Consequence {
        let name = self.request.shell.rsplit('/').next().unwrap_or_default();
        if !matches!(name, "" | "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash") {
            return Consequence::unknown(format!("any of it: it is written for {name}"));
        }
        for name in ["BASH_ENV", "BASHOPTS", "SHELLOPTS", "GLOBIGNORE"] {
            if self.state.variables.contains_key(name) {
                self.not_known(format!("what {name} changes about the shell"));
            }
        }
        let text = self.request.text.clone();
        self.run_text(&text);
        self.run_at_exit();
        let unlooked = self.files.unlooked.get();
        if unlooked.is_too_many {
            self.not_known("the rest: more than 20,000 paths to look at".to_owned());
        }
        if unlooked.is_late {
            self.not_known("the rest: looking took too long".to_owned());
        }
        if unlooked.is_closed {
            self.not_known("what is in folders that cannot be read".to_owned());
        }
        Consequence { facts: self.facts, unknown: self.unknown }
    }

    /// Notes what cannot be known.
    pub(crate) fn not_known(&mut self, what: impl Into<String>) {
        let what = cut(what.into());
        if self.unknown.len() < MOST_SAID && !self.unknown.contains(&what) {
            self.unknown.push(what);
        }
    }

    /// Notes what is not known of a command, and with it how the command ends.
    pub(crate) fn note_unknown(&mut self, what: impl Into<String>) -> CommandEnd {
        self.not_known(what);
        CommandEnd::unknown()
    }

    /// Notes what it costs.
    pub(crate) fn fact(&mut self, mut fact: Fact) {
        fact.is_possible |= self.conditions > 0;
        fact.text = cut(fact.text);
        if self.facts.len() >= MOST_SAID {
            self.not_known("the rest: too much to say");
        } else if !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    /// Sets a variable, unless that changes what the shell is.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let is_plain = matches!(&value, Value::Text(text) if !text.contains(['$', '`']));
        match name {
            "GLOBIGNORE" | "EXECIGNORE" | "POSIXLY_CORRECT" | "BASH_COMPAT" => {
                self.not_known(format!("what {name} changes about the shell"));
            }
            _ if EDITORS.contains(&name) => {
                let editor =
                    Some(&value).filter(|value| matches!(value, Value::Text(_))).map(Value::said_text);
                self.editors.insert(editor);
            }
            "PS4" if !is_plain => self.not_known("what PS4 runs"),
            _ => {}
        }
        self.state.set(name, value);
    }

    /// Makes everything that follows a possibility.
    pub(crate) fn doubt_rest(&mut self) {
        self.conditions += 1;
    }

    pub(crate) fn exit_shell(&mut self) {
        self.flow = Flow::Exit;
    }

    /// Counts text that is made, and looks at the clock. Returns whether to go on; if not, the shell ends here.
    pub(crate) fn spend(&mut self, bytes: usize) -> bool {
        self.made += bytes;
        if self.made > MOST_MADE || self.steps > MOST_STEPS {
            self.stop();
            return false;
        }
        let has_time = self.files.has_time();
        if !has_time {
            // That is said at the end.
            self.exit_shell();
        }
        has_time
    }

    /// Ends the shell, because there is too much in it.
    pub(crate) fn stop(&mut self) -> CommandEnd {
        self.not_known("the rest: too much to look through");
        self.exit_shell();
        CommandEnd::unknown()
    }

    /// Does something while this many bytes are kept for afterwards, if there is room for them.
    pub(crate) fn holding(&mut self, bytes: usize, run: impl FnOnce(&mut Self) -> CommandEnd) -> CommandEnd {
        if self.held + bytes > MOST_HELD {
            return self.stop();
        }
        self.held += bytes;
        let end = run(self);
        self.held -= bytes;
        end
    }

    /// Goes through a text as a shell would.
    pub(crate) fn run_text(&mut self, text: &str) -> CommandEnd {
        let Some(program) = self.parse(text) else { return CommandEnd::unknown() };
        // The tree of a text is some hundred times as large.
        self.holding(128 * text.len(), |shell| {
            let mut end = CommandEnd::silent(Outcome::Success);
            for list in &program.complete_commands {
                let next = shell.run_list(list);
                end = combine(end, next);
            }
            end
        })
    }

    fn parse(&mut self, text: &str) -> Option<ast::Program> {
        if !guard::is_readable(text) || self.deep > MOST_DEEP {
            self.not_known(format!("what `{}` does: it is too long to look through", shorten(text)));
            return None;
        }
        let mut parser = brush_parser::Parser::new(text.as_bytes(), &Default::default(), &Default::default());
        let program = parser.parse_program().ok();
        if program.is_none() || guard::is_misread(text) {
            self.not_known(format!("what `{}` does: it cannot be read as a shell would", shorten(text)));
        }
        program
    }

    /// Returns the absolute path of a text; `None` if the folder is not known.
    pub(crate) fn full(&self, text: &str) -> Option<PathBuf> {
        let path = path_of(text);
        if path.is_absolute() {
            return Some(path);
        }
        Some(self.state.folder.as_ref()?.join(path))
    }

    /// Returns a path as a person would write it.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        if let Ok(rest) = path.strip_prefix(&self.request.folder)
            && !rest.as_os_str().is_empty()
        {
            return text_of(rest);
        }
        match path.strip_prefix(&self.request.home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Ok(rest) if self.request.home != Path::new("/") => format!("~/{}", text_of(rest)),
            _ => text_of(path),
        }
    }
}
