//! Names and their values. A scope's parent is the one around it; that of a block call is the frame
//! of its caller, as the language has it (current call, callers, root).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::value::Value;

/// How a name came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum BindingKind {
    /// `input`.
    Input,
    /// `let`, and the names of branches.
    Let,
    /// `const`.
    Const,
    /// `output`.
    Output,
    /// A parameter, or the variable of a loop or a pipeline.
    #[strum(serialize = "let")]
    Given,
}

/// How the command ended that made a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandEnd {
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// What it wrote as errors.
    pub stderr: String,
    /// Its time ran out.
    pub timed_out: bool,
    /// Some of its output was cut off.
    pub stdout_truncated: bool,
    /// Some of its errors were cut off.
    pub stderr_truncated: bool,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// How it came to be.
    pub kind: BindingKind,
    /// Its value.
    pub value: Value,
    /// How the command ended that made it, if that is known.
    pub made: Option<CommandEnd>,
    /// The line that made it.
    pub line: u32,
    /// The block call it belongs to.
    pub execution_id: Option<u32>,
    /// The file that holds it.
    pub file: Option<PathBuf>,
}

/// Where a name was found.
impl Bound {
    /// A value that a statement binds for those inside it: an element, a counter, an argument.
    #[must_use]
    pub fn given(value: Value, line: u32) -> Self {
        Self { kind: BindingKind::Given, value, made: None, line, execution_id: None, file: None }
    }
}

#[derive(Debug, Clone)]
enum Slot {
    Bound(Arc<Bound>),
    /// The statement that was to bind it has failed, on this line.
    Failed(u32),
}

/// Why a name has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// No statement has bound it yet.
    NotReached,
    /// The statement on this line was to bind it and has failed.
    Failed(u32),
}

/// One scope.
#[derive(Debug)]
pub struct Scope {
    parent: Option<Arc<Scope>>,
    /// The frame in which names of callers are looked up.
    is_frame: bool,
    /// Others like it may run at the same time, so that its files need names of their own.
    is_forked: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    names: HashMap<Arc<str>, Slot>,
    execution_id: Option<u32>,
}

impl Scope {
    /// Returns the outermost scope of a program.
    #[must_use]
    pub fn root() -> Arc<Self> {
        Arc::new(Self { parent: None, is_frame: true, is_forked: false, state: Mutex::default() })
    }

    /// Returns a scope inside this one.
    #[must_use]
    pub fn inner(self: &Arc<Self>) -> Arc<Self> {
        self.child(false, false, None)
    }

    /// Returns the scope of a branch or an iteration that runs beside others.
    #[must_use]
    pub fn forked(self: &Arc<Self>) -> Arc<Self> {
        self.child(false, true, None)
    }

    /// Returns the scope of a block called from here.
    #[must_use]
    pub fn call(self: &Arc<Self>, execution_id: u32) -> Arc<Self> {
        self.frame().child(true, false, Some(execution_id))
    }

    fn child(self: &Arc<Self>, is_frame: bool, is_forked: bool, execution_id: Option<u32>) -> Arc<Self> {
        let state = Mutex::new(State { names: HashMap::new(), execution_id });
        Arc::new(Self { parent: Some(self.clone()), is_frame, is_forked, state })
    }

    /// Finds a name, from here outwards.
    ///
    /// # Errors
    /// When it has no value.
    pub fn find(&self, name: &str) -> Result<Arc<Bound>, Missing> {
        let mut failed = None;
        for scope in self.outwards() {
            match scope.state().names.get(name) {
                Some(Slot::Bound(bound)) => return Ok(bound.clone()),
                Some(Slot::Failed(line)) => failed = failed.or(Some(*line)),
                None => {}
            }
        }
        Err(failed.map_or(Missing::NotReached, Missing::Failed))
    }

    /// Binds a name here.
    pub fn bind(&self, name: &str, bound: Bound) {
        self.state().names.insert(name.into(), Slot::Bound(Arc::new(bound)));
    }

    /// Gives a name that was bound before another value, where it was bound; here when it was not.
    pub fn assign(&self, name: &str, bound: Bound) {
        for scope in self.outwards() {
            let mut state = scope.state();
            if let Some(slot) = state.names.get_mut(name) {
                *slot = Slot::Bound(Arc::new(bound));
                return;
            }
        }
        self.bind(name, bound);
    }

    /// Notes that the statement on a line was to bind a name and has failed. A value it had stays.
    pub fn failed(&self, name: &str, line: u32) {
        self.state().names.entry(name.into()).or_insert(Slot::Failed(line));
    }

    /// Returns the names that have a value here, the nearest scope first, each once.
    #[must_use]
    pub fn visible(&self) -> Vec<(Arc<str>, Arc<Bound>)> {
        let mut found: Vec<(Arc<str>, Arc<Bound>)> = Vec::new();
        for scope in self.outwards() {
            let state = scope.state();
            let bound = state.names.iter().filter_map(|(name, slot)| match slot {
                Slot::Bound(bound) => Some((name.clone(), bound.clone())),
                Slot::Failed(_) => None,
            });
            let mut own: Vec<_> = bound.collect();
            own.sort_by_key(|(_, bound)| std::cmp::Reverse(bound.line));
            own.retain(|(name, _)| found.iter().all(|(known, _)| known != name));
            found.extend(own);
        }
        found
    }

    /// Returns the outputs bound in this frame itself, in order of their lines.
    #[must_use]
    pub fn outputs(&self) -> Vec<(Arc<str>, Arc<Bound>)> {
        let state = self.state();
        let outputs = state.names.iter().filter_map(|(name, slot)| match slot {
            Slot::Bound(bound) if bound.kind == BindingKind::Output => Some((name.clone(), bound.clone())),
            _ => None,
        });
        let mut outputs: Vec<_> = outputs.collect();
        outputs.sort_by_key(|(_, bound)| bound.line);
        outputs
    }

    /// Returns the innermost scope that is a block call or the root.
    #[must_use]
    pub fn frame(self: &Arc<Self>) -> Arc<Self> {
        let mut frame = self;
        while let (false, Some(parent)) = (frame.is_frame, &frame.parent) {
            frame = parent;
        }
        frame.clone()
    }

    /// Returns the id that a file of `name` carries when it is bound here (docs/prose-rules.md#rule-18): that of the block
    /// call; else one of its own, which `number` gives, where another file of that name may be in the way.
    pub fn file_id(&self, name: &str, number: impl FnOnce() -> u32) -> Option<u32> {
        if let Some(id) = self.own_id() {
            return Some(id);
        }
        let is_shadowing = self.outwards().skip(1).any(|scope| scope.state().names.contains_key(name));
        let is_forked = self.until_call().any(|scope| scope.is_forked);
        if !is_shadowing && !is_forked {
            return self.call_id();
        }
        let id = number();
        self.state().execution_id = Some(id);
        Some(id)
    }

    /// Returns the id of the innermost scope that has one.
    #[must_use]
    pub fn call_id(&self) -> Option<u32> {
        self.outwards().find_map(Scope::own_id)
    }

    fn own_id(&self) -> Option<u32> {
        self.state().execution_id
    }

    /// This scope and those around it, up to where ids begin.
    fn until_call(&self) -> impl Iterator<Item = &Scope> {
        self.outwards().take_while(|scope| scope.own_id().is_none())
    }

    fn outwards(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.parent.as_deref())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str, line: u32) -> Bound {
        Bound {
            kind: BindingKind::Let,
            value: Value::text(text),
            made: None,
            line,
            execution_id: None,
            file: None,
        }
    }

    fn value(scope: &Scope, name: &str) -> String {
        scope.find(name).expect("a value").value.body()
    }

    #[test]
    fn a_name_is_found_from_inside_out_and_assigned_where_it_is_bound() {
        let root = Scope::root();
        root.bind("x", bound("root", 1));
        let inner = root.inner();
        inner.assign("x", bound("new", 2));
        assert_eq!(value(&root, "x"), "new");
        inner.bind("x", bound("inner", 3));
        assert_eq!((value(&inner, "x"), value(&root, "x")), ("inner".into(), "new".into()));
        assert_eq!(inner.visible().len(), 1);
        assert_eq!(root.find("y").expect_err("none"), Missing::NotReached);
    }

    #[test]
    fn a_call_sees_the_frame_of_its_caller_but_not_the_loop_it_stands_in() {
        let root = Scope::root();
        root.bind("x", bound("root", 1));
        let turn = root.inner();
        turn.bind("x", bound("turn", 2));
        let call = turn.call(7);
        assert_eq!(value(&call, "x"), "root");
        call.bind("x", bound("call", 3));
        assert_eq!(value(&call.inner().call(8), "x"), "call");
        assert_eq!(call.inner().call_id(), Some(7));
    }

    #[test]
    fn a_failed_binding_says_so_and_keeps_an_older_value() {
        let root = Scope::root();
        root.failed("x", 4);
        assert_eq!(root.inner().find("x").expect_err("none"), Missing::Failed(4));
        root.bind("x", bound("a", 5));
        root.failed("x", 6);
        assert_eq!(value(&root, "x"), "a");
    }

    #[test]
    fn only_a_file_that_another_may_overwrite_gets_a_number() {
        let root = Scope::root();
        let never = || -> u32 { panic!("no number is needed") };
        assert_eq!(root.file_id("x", never), None);
        assert_eq!(root.inner().file_id("x", never), None);
        root.bind("x", bound("a", 1));
        assert_eq!(root.inner().file_id("x", || 1), Some(1), "it shadows");
        let branch = root.forked();
        let nested = branch.inner();
        assert_eq!(nested.file_id("y", || 2), Some(2), "its like run beside it");
        assert_eq!(nested.file_id("z", never), Some(2), "one number a scope");
        let call = root.call(9);
        assert_eq!(call.file_id("x", never), Some(9));
        assert_eq!(call.inner().file_id("w", never), Some(9));
        assert_eq!(call.forked().file_id("w", || 10), Some(10));
    }
}
