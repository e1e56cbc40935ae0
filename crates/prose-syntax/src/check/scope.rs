//! Names: where they are declared, what they shadow, what can be assigned. All variables at the top level, or in a
//! block, share one namespace; names introduced by loops, parameters, errors and pipelines exist only in their body.

use std::collections::HashMap;

use super::Checker;
use crate::ast::visit::{NameKind, each_declared};
use crate::ast::{Mutability, Name, Statements};
use crate::codes::RuleCode;
use crate::similar::did_you_mean;
use crate::source::Span;

/// With more names than this, none is suggested: searching them for every mistake would take too long.
pub(super) const MOST_NAMES: usize = 1_000;

/// Suggests the known name that is most similar to an unknown one.
pub(super) fn suggestion<'n>(name: &Name, known: impl ExactSizeIterator<Item = &'n str>) -> Option<String> {
    let mut known: Vec<&str> = if known.len() > MOST_NAMES { Vec::new() } else { known.collect() };
    // Makes the suggestion independent of a hash map's order.
    known.sort_unstable();
    did_you_mean(name.as_str(), known)
}

#[derive(Debug, Clone, Copy)]
struct Declaration {
    span: Span,
    kind: NameKind,
    /// The body that contains it: an index into [`Declarations::scopes`].
    scope: usize,
}

/// A body.
#[derive(Debug, Clone, Copy)]
struct DeclarationScope {
    outer: Option<usize>,
    /// The group of alternatives it belongs to: a run executes only one body of a group.
    alternatives: Option<u32>,
}

/// A name that exists in one body only.
#[derive(Debug, Clone, Copy)]
struct LocalName<'a> {
    name: &'a str,
    span: Span,
    what: &'static str,
}

/// The names at the top level, or in a block.
#[derive(Debug, Default)]
pub(super) struct Declarations<'a> {
    declared: HashMap<&'a str, Declaration>,
    locals: Vec<LocalName<'a>>,
    /// All bodies so far, and the one that is open.
    scopes: Vec<DeclarationScope>,
    open: Option<usize>,
    /// The current group of alternatives, and how many groups there have been.
    alternatives: u32,
    groups: u32,
    /// What each declaration replaced, in order.
    history: Vec<(&'a str, Option<Declaration>)>,
    /// Names declared in concurrent iterations, each with its position and that of their block. They have no value
    /// after the block.
    iterated: HashMap<&'a str, (Span, Span)>,
    /// Where each name is first declared, including later declarations.
    coming: HashMap<&'a str, Span>,
}

impl<'a> Declarations<'a> {
    pub(super) fn of(body: &'a Statements) -> Self {
        let mut coming = HashMap::new();
        each_declared(body, |name, kind| {
            if kind != NameKind::Local {
                coming.entry(name.as_str()).or_insert(name.span);
            }
        });
        Self { coming, ..Self::default() }
    }

    pub(super) fn open(&mut self) {
        self.open_scope(None);
    }

    /// Opens one of several alternative bodies.
    pub(super) fn open_alternative(&mut self) {
        self.open_scope(Some(self.alternatives));
    }

    fn open_scope(&mut self, alternatives: Option<u32>) {
        self.scopes.push(DeclarationScope { outer: self.open, alternatives });
        self.open = Some(self.scopes.len() - 1);
    }

    pub(super) fn close(&mut self) {
        self.open = self.open.and_then(|scope| self.scopes[scope].outer);
    }

    /// Starts a group of alternatives; returns the number of the enclosing group.
    pub(super) fn begin_alternatives(&mut self) -> u32 {
        self.groups += 1;
        std::mem::replace(&mut self.alternatives, self.groups)
    }

    pub(super) fn end_alternatives(&mut self, outer: u32) {
        self.alternatives = outer;
    }

    /// Returns a scope and its enclosing scopes, innermost first.
    fn outwards(&self, scope: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(scope, |scope| self.scopes[*scope].outer)
    }

    /// Returns whether no run executes both the open scope and another one.
    fn excludes(&self, other: usize) -> bool {
        self.outwards(Some(other)).any(|there| {
            let group = self.scopes[there].alternatives;
            let is_other = |here: usize| here != there && self.scopes[here].alternatives == group;
            group.is_some() && self.outwards(self.open).any(is_other)
        })
    }

    /// Returns the number of declarations so far.
    pub(super) fn mark(&self) -> usize {
        self.history.len()
    }

    /// Reverts the declarations since `mark`: they belonged to the concurrent iterations of `block`.
    pub(super) fn leave_iterations(&mut self, mark: usize, block: Span) {
        for (name, before) in self.history.drain(mark..).rev() {
            match before {
                Some(before) => drop(self.declared.insert(name, before)),
                None => {
                    let declared = self.declared.remove(name);
                    self.iterated.extend(declared.map(|declared| (name, (declared.span, block))));
                }
            }
        }
    }

    pub(super) fn local_count(&self) -> usize {
        self.locals.len()
    }

    /// Leaves a body: only the first `outer` local names stay visible.
    pub(super) fn forget_locals(&mut self, outer: usize) {
        self.locals.truncate(outer);
    }

    fn place(&self, name: &str) -> Option<Span> {
        let local = self.locals.iter().rev().find(|local| local.name == name).map(|local| local.span);
        local.or_else(|| self.declared.get(name).map(|declared| declared.span))
    }
}

impl<'a> Checker<'a> {
    /// Returns where a name that is visible here is declared.
    pub(super) fn visible(&self, name: &str) -> Option<Span> {
        let own = self.frame.place(name);
        // A block may be called from an iteration, and then sees that iteration's names.
        let root = || self.root.place(name).or(self.root.iterated.get(name).map(|(place, _)| *place));
        let known = own.or_else(|| if self.in_block { root() } else { None });
        known.or_else(|| self.definitions.unread.get(name).copied())
    }

    /// Returns all names that are visible here.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        let root = if self.in_block { Some(&self.root) } else { None };
        let of = |frame: &Declarations<'a>| {
            let locals: Vec<&'a str> = frame.locals.iter().map(|local| local.name).collect();
            frame.declared.keys().copied().chain(locals).collect::<Vec<_>>()
        };
        let many = self.frame.declared.len() + root.map_or(0, |root| root.declared.len());
        if many > MOST_NAMES {
            return Vec::new().into_iter();
        }
        let mut names = of(&self.frame);
        names.extend(root.map(of).unwrap_or_default());
        // Makes the suggestion independent of a hash map's order.
        names.sort_unstable();
        names.into_iter()
    }

    /// Returns the names bound by blocks, each with one such block.
    fn block_names(&self) -> &HashMap<&'a str, &'a str> {
        self.block_names.get_or_init(|| {
            let mut names = HashMap::new();
            for block in &self.program.blocks {
                each_declared(&block.body, |name, kind| {
                    if kind != NameKind::Local {
                        names.entry(name.as_str()).or_insert(block.name.as_str());
                    }
                });
            }
            names
        })
    }

    /// Returns the hint for a name that is not defined.
    pub(super) fn advice(&self, used: &Name, usual: &str) -> String {
        let name = used.as_str();
        if let Some(later) = self.frame.coming.get(name).filter(|later| later.start() > used.span.start()) {
            let line = self.source.line_of(later.start());
            return format!("`{name}` is defined on line {line}, after this: move its definition up");
        }
        if let Some((_, block)) = self.frame.iterated.get(name) {
            let line = self.source.line_of(block.start());
            return format!(
                "each iteration of line {line} has a `{name}` of its own: use the value of the whole"
            );
        }
        if let (false, Some(block)) = (self.in_block, self.block_names().get(name)) {
            return format!("only the block `{block}` has a `{name}`: bind the value of `do {block}`");
        }
        if self.definitions.blocks.contains_key(name) {
            return format!("`{name}` is a block: write `do {name}`");
        }
        if self.definitions.agents.contains_key(name) {
            return format!("`{name}` is an agent: write `session: {name}`");
        }
        did_you_mean(name, self.names()).unwrap_or_else(|| usual.to_owned())
    }

    pub(super) fn declare(&mut self, name: &'a Name, kind: NameKind) {
        self.against_agents(name, RuleCode::HPE003);
        let Some(scope) = self.frame.open else { return };
        let text = name.as_str();
        let first = self.frame.declared.get(text).copied();
        if let Some(first) = first {
            self.again(name, kind, first);
        } else if let Some(elsewhere) = self.everywhere.get(text).copied() {
            self.elsewhere(name, elsewhere);
        }
        self.everywhere.entry(text).or_insert(name.span);
        self.set(text, Declaration { span: name.span, kind, scope });
    }

    fn set(&mut self, name: &'a str, declared: Declaration) {
        let before = self.frame.declared.insert(name, declared);
        self.frame.history.push((name, before));
    }

    /// Warns about a name that may have no value because its parallel block can complete without that branch.
    pub(super) fn check_contender(&mut self, name: &Name) {
        let text = name.as_str();
        let is_hidden = self.frame.locals.iter().any(|local| local.name == text);
        if let Some(Declaration { kind: NameKind::Contender, span, .. }) =
            self.frame.declared.get(text).copied()
            && !self.in_context
            && !is_hidden
        {
            let message = format!("`{text}` has no value if the parallel block is over without that branch");
            self.reports.add(RuleCode::HPW022, name.span, message).relate(span, "the branch");
        }
    }

    fn again(&mut self, name: &Name, kind: NameKind, first: Declaration) {
        let same = Some(first.scope) == self.frame.open;
        // Only one of them is executed, and each may bind the name.
        if self.frame.excludes(first.scope) {
            return;
        }
        let text = &name.text;
        let (code, message) = match (first.kind, kind) {
            (NameKind::Input, NameKind::Input) if same => {
                (RuleCode::E021, format!("the input `{text}` is declared twice"))
            }
            (NameKind::Output, NameKind::Output) if same => {
                (RuleCode::E024, format!("the output `{text}` is declared twice"))
            }
            (_, NameKind::Output) if same => {
                (RuleCode::HPW004, format!("the output `{text}` has the name of a variable"))
            }
            _ if same => (RuleCode::E019, format!("the variable `{text}` is already defined")),
            _ => (RuleCode::HPW004, format!("the name `{text}` is used again here")),
        };
        self.reports.add(code, name.span, message).relate(first.span, "first defined here");
    }

    fn elsewhere(&mut self, name: &Name, first: Span) {
        let message = format!("the name `{}` is used again here", name.text);
        self.reports.add(RuleCode::HPW004, name.span, message).relate(first, "first defined here");
    }

    fn against_agents(&mut self, name: &Name, code: RuleCode) {
        if let Some(agent) = self.agent(name.as_str()) {
            let message = format!("`{}` is the name of an agent", name.text);
            self.reports.add(code, name.span, message).relate(agent.name.span, "the agent");
        }
    }

    pub(super) fn assign(&mut self, name: &'a Name) {
        let text = name.as_str();
        if let Some(local) = self.frame.locals.iter().rev().find(|local| local.name == text).copied() {
            let message = format!("`{text}` is the {} here and cannot be assigned", local.what);
            self.reports.add(RuleCode::HPE001, name.span, message).relate(local.span, "it is named here");
            return;
        }
        let declared = self.frame.declared.get(text);
        let declared = declared.or_else(|| if self.in_block { self.root.declared.get(text) } else { None });
        match declared.copied() {
            Some(Declaration { kind: NameKind::Bound(Mutability::Const), span, .. }) => {
                let message = format!("`{text}` is a constant and cannot be assigned again");
                self.reports
                    .add(RuleCode::HPE001, name.span, message)
                    .relate(span, "declared with `const` here");
            }
            Some(Declaration { kind: NameKind::Contender, span, scope }) => {
                self.set(text, Declaration { kind: NameKind::Branch, span, scope });
            }
            Some(_) => {}
            None => {
                let hint = self.advice(name, "write `let` before it");
                let message = format!("`{text}` was never declared");
                self.reports.add(RuleCode::HPW020, name.span, message).hint(hint);
                self.declare(name, NameKind::Assigned);
            }
        }
    }

    /// Declares a local name for the next body.
    pub(super) fn local(&mut self, name: &'a Name, what: &'static str) {
        self.against_agents(name, RuleCode::HPW024);
        self.local_text(name.as_str(), name.span, what);
    }

    pub(super) fn local_text(&mut self, name: &'a str, span: Span, what: &'static str) {
        if let Some(outer) = self.visible(name) {
            let message = format!("the {what} `{name}` hides an outer one");
            self.reports.add(RuleCode::HPW005, span, message).relate(outer, "the outer one");
        }
        self.frame.locals.push(LocalName { name, span, what });
    }
}
