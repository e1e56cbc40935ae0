//! Names and their values. A program has one flat namespace, and so has each call of a block, whose parent is the
//! namespace of its caller, as the language defines it (current call, callers, root). Concurrent branches bind names
//! of their own until their block completes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::prose::engine::record::binding::CommandEnd;
use crate::prose::engine::value::Value;

/// How a name was bound.
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

/// A binding of a name.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundValue {
    /// How it was bound.
    pub kind: BindingKind,
    pub value: Value,
    /// How the command that created it ended, if known.
    pub made: Option<CommandEnd>,
    /// The line that bound it.
    pub line: u32,
    /// The call of a block that it belongs to.
    pub execution_id: Option<u32>,
    /// The file that contains it.
    pub file: Option<PathBuf>,
}

impl BoundValue {
    /// Returns a value that a statement binds for its body: an element, a counter, an argument.
    pub fn local(value: Value, line: u32) -> Self {
        Self { kind: BindingKind::Given, value, made: None, line, execution_id: None, file: None }
    }
}

/// Why a name has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingValue {
    /// No statement has bound it yet.
    NotReached,
    /// The statement on this line should have bound it, but failed.
    Failed(u32),
    /// It names a branch of the parallel block on this line, which completed without that branch.
    Lost(u32),
}

/// The kind of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// A program, or a call of a block: statements bind their names here.
    Frame,
    /// A concurrent branch or iteration: it binds names of its own, and its files need distinct names.
    Fork,
    /// A body with names that only it sees: a counter, an element, an error. Its statements bind names in its parent.
    Locals,
}

#[derive(Debug)]
pub struct NameScope {
    parent: Option<Arc<NameScope>>,
    extent: Extent,
    state: Mutex<ScopeState>,
}

#[derive(Debug, Default)]
struct ScopeState {
    names: HashMap<Arc<str>, Result<Arc<BoundValue>, MissingValue>>,
    execution_id: Option<u32>,
}

impl NameScope {
    /// Returns the outermost scope of a program.
    pub fn root() -> Arc<Self> {
        Arc::new(Self { parent: None, extent: Extent::Frame, state: Mutex::default() })
    }

    /// Returns a scope inside this one for names that only one body sees.
    pub fn inner(self: &Arc<Self>) -> Arc<Self> {
        self.child(Extent::Locals, None)
    }

    /// Returns the scope of a concurrent branch or iteration.
    pub fn fork(self: &Arc<Self>) -> Arc<Self> {
        self.child(Extent::Fork, None)
    }

    /// Returns the scope of a block called from here. It sees names bound by statements here, but no local names.
    pub fn call(self: &Arc<Self>, execution_id: u32) -> Arc<Self> {
        let mut home = self;
        while let (Extent::Locals, Some(parent)) = (home.extent, &home.parent) {
            home = parent;
        }
        home.child(Extent::Frame, Some(execution_id))
    }

    fn child(self: &Arc<Self>, extent: Extent, execution_id: Option<u32>) -> Arc<Self> {
        let state = Mutex::new(ScopeState { names: HashMap::new(), execution_id });
        Arc::new(Self { parent: Some(self.clone()), extent, state })
    }

    /// Finds a name, searching from here outwards.
    ///
    /// # Errors
    /// When it has no value.
    pub fn find(&self, name: &str) -> Result<Arc<BoundValue>, MissingValue> {
        let mut missing = MissingValue::NotReached;
        for scope in self.outwards() {
            match scope.state().names.get(name) {
                Some(Ok(bound)) => return Ok(bound.clone()),
                Some(Err(MissingValue::Lost(line))) => return Err(MissingValue::Lost(*line)),
                Some(Err(why)) if missing == MissingValue::NotReached => missing = *why,
                _ => {}
            }
        }
        Err(missing)
    }

    /// Binds a name: one given to a body, in this scope; any other, where statements bind names, so that no local
    /// name hides it.
    pub fn bind(&self, name: &str, bound: BoundValue) {
        if bound.kind == BindingKind::Given {
            self.state().names.insert(name.into(), Ok(Arc::new(bound)));
        } else {
            self.set(name, Ok(Arc::new(bound)));
        }
    }

    fn set(&self, name: &str, value: Result<Arc<BoundValue>, MissingValue>) {
        let mut scope = self;
        while let (Extent::Locals, Some(parent)) = (scope.extent, &scope.parent) {
            scope.state().names.remove(name);
            scope = parent;
        }
        scope.state().names.insert(name.into(), value);
    }

    /// Assigns a new value to a name in the scope that bound it.
    pub fn assign(&self, name: &str, bound: BoundValue) {
        for scope in self.outwards() {
            let mut state = scope.state();
            if let Some(known) = state.names.get_mut(name) {
                *known = Ok(Arc::new(bound));
                return;
            }
        }
        self.bind(name, bound);
    }

    /// Records that the statement on a line failed to bind a name. An earlier value is kept.
    pub fn record_failure(&self, name: &str, line: u32) {
        self.home().state().names.entry(name.into()).or_insert(Err(MissingValue::Failed(line)));
    }

    /// Records that the parallel block on a line completed without the branch with this name. An earlier value is
    /// lost.
    pub fn record_loss(&self, name: &str, line: u32) {
        self.set(name, Err(MissingValue::Lost(line)));
    }

    /// Adopts the bindings of a branch that has ended.
    pub fn adopt(&self, branch: &Self) {
        let names = std::mem::take(&mut branch.state().names);
        for (name, value) in names {
            match value {
                Err(MissingValue::Failed(line)) => self.record_failure(&name, line),
                value => self.set(&name, value),
            }
        }
    }

    /// Returns the names that have a value here, the nearest scope first, without duplicates.
    pub fn visible(&self) -> Vec<(Arc<str>, Arc<BoundValue>)> {
        let mut found: Vec<(Arc<str>, Arc<BoundValue>)> = Vec::new();
        for scope in self.outwards() {
            let state = scope.state();
            let bound = |(name, value): (&Arc<str>, &Result<Arc<BoundValue>, _>)| {
                value.as_ref().ok().map(|bound| (name.clone(), bound.clone()))
            };
            let mut own: Vec<_> = state.names.iter().filter_map(bound).collect();
            own.sort_by_key(|(_, bound)| std::cmp::Reverse(bound.line));
            own.retain(|(name, _)| found.iter().all(|(known, _)| known != name));
            found.extend(own);
        }
        found
    }

    /// Returns the outputs bound in this frame itself, ordered by line.
    pub fn outputs(&self) -> Vec<(Arc<str>, Arc<BoundValue>)> {
        let state = self.state();
        let is_output = |bound: &&Arc<BoundValue>| bound.kind == BindingKind::Output;
        let output = |(name, value): (&Arc<str>, &Result<Arc<BoundValue>, _>)| {
            value.as_ref().ok().filter(is_output).map(|bound| (name.clone(), bound.clone()))
        };
        let mut outputs: Vec<_> = state.names.iter().filter_map(output).collect();
        outputs.sort_by_key(|(_, bound)| bound.line);
        outputs
    }

    /// Returns the innermost scope that is a block call or the root.
    pub fn frame(&self) -> &Self {
        self.outwards().find(|scope| scope.extent == Extent::Frame).unwrap_or(self)
    }

    /// Returns the innermost scope in which statements bind names.
    fn home(&self) -> &Self {
        self.outwards().find(|scope| scope.extent != Extent::Locals).unwrap_or(self)
    }

    /// Returns the id in the file name of `name` when it is bound here (docs/prose-rules.md#rule-18): that of the
    /// block call or, if the file might otherwise clash with another one for that name, an id of its own from
    /// `number`.
    pub fn file_id(&self, name: &str, kind: BindingKind, number: impl FnOnce() -> u32) -> Option<u32> {
        let hides = || self.outwards().skip(1).any(|scope| scope.state().names.contains_key(name));
        let owner = if kind == BindingKind::Given && hides() { self } else { self.home() };
        let known = owner.state().execution_id;
        if known.is_some() || owner.extent == Extent::Frame {
            return known;
        }
        let id = number();
        owner.state().execution_id = Some(id);
        Some(id)
    }

    fn outwards(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |scope| scope.parent.as_deref())
    }

    fn state(&self) -> MutexGuard<'_, ScopeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str, line: u32) -> BoundValue {
        BoundValue {
            kind: BindingKind::Let,
            value: Value::text(text),
            made: None,
            line,
            execution_id: None,
            file: None,
        }
    }

    fn value(scope: &NameScope, name: &str) -> String {
        scope.find(name).expect("a value").value.body()
    }

    #[test]
    fn a_name_is_found_from_inside_out_and_bound_for_the_whole_program() {
        let root = NameScope::root();
        root.bind("x", bound("root", 1));
        let inner = root.inner();
        inner.assign("x", bound("new", 2));
        assert_eq!(value(&root, "x"), "new");
        inner.bind("y", bound("inner", 3));
        assert_eq!((value(&inner, "y"), value(&root, "y")), ("inner".into(), "inner".into()));
        assert_eq!(inner.visible().len(), 2);
        assert_eq!(root.find("z").expect_err("none"), MissingValue::NotReached);
    }

    #[test]
    fn a_name_given_to_a_body_is_local_until_a_statement_binds_it() {
        let root = NameScope::root();
        let turn = root.inner();
        turn.bind("x", BoundValue::local(Value::text("turn"), 2));
        assert_eq!(value(&turn, "x"), "turn");
        assert_eq!(root.find("x").expect_err("none"), MissingValue::NotReached);
        turn.bind("x", bound("bound", 3));
        assert_eq!((value(&turn, "x"), value(&root, "x")), ("bound".into(), "bound".into()));
    }

    #[test]
    fn a_call_sees_the_frame_of_its_caller_but_not_the_loop_it_stands_in() {
        let root = NameScope::root();
        root.bind("x", bound("root", 1));
        let turn = root.inner();
        turn.bind("x", BoundValue::local(Value::text("turn"), 2));
        let call = turn.call(7);
        assert_eq!(value(&call, "x"), "root");
        call.bind("x", bound("call", 3));
        assert_eq!(value(&call.inner().call(8), "x"), "call");
        assert_eq!((value(&root, "x"), value(&root.fork(), "x")), ("root".into(), "root".into()));
    }

    #[test]
    fn a_failed_binding_says_so_and_keeps_an_older_value() {
        let root = NameScope::root();
        root.record_failure("x", 4);
        assert_eq!(root.inner().find("x").expect_err("none"), MissingValue::Failed(4));
        root.bind("x", bound("a", 5));
        root.inner().record_failure("x", 6);
        assert_eq!(value(&root, "x"), "a");
    }

    #[test]
    fn a_branch_binds_its_own_names_until_it_is_over() {
        let root = NameScope::root();
        root.bind("x", bound("before", 1));
        let (one, two) = (root.fork(), root.fork());
        one.bind("x", bound("one", 2));
        two.inner().bind("y", bound("two", 3));
        one.record_failure("y", 2);
        assert_eq!((value(&root, "x"), value(&two, "x")), ("before".into(), "before".into()));
        root.adopt(&one);
        root.inner().adopt(&two);
        assert_eq!((value(&root, "x"), value(&root, "y")), ("one".into(), "two".into()));
        root.inner().record_loss("y", 9);
        assert_eq!(root.call(1).find("y").expect_err("gone"), MissingValue::Lost(9));
    }

    #[test]
    fn only_a_file_that_another_may_overwrite_gets_a_number() {
        let (root, kind) = (NameScope::root(), BindingKind::Let);
        let never = || -> u32 { panic!("no number is needed") };
        assert_eq!(root.file_id("x", kind, never), None);
        root.bind("x", bound("a", 1));
        assert_eq!(root.inner().file_id("x", kind, never), None, "the same name");
        assert_eq!(root.inner().file_id("x", BindingKind::Given, || 1), Some(1), "it hides another");
        assert_eq!(root.inner().file_id("e", BindingKind::Given, never), None);
        let branch = root.fork();
        let nested = branch.inner();
        assert_eq!(nested.file_id("y", kind, || 2), Some(2), "its like run beside it");
        assert_eq!(nested.file_id("z", kind, never), Some(2), "one number a branch");
        let call = root.call(9);
        assert_eq!(call.file_id("x", kind, never), Some(9));
        assert_eq!(call.inner().file_id("w", kind, never), Some(9));
        assert_eq!(call.fork().file_id("w", kind, || 10), Some(10));
    }
}
