//! Names: where they are declared, what they hide, what can be assigned. All variables of the top level, or
//! of a block, live in one namespace; what loops, parameters, errors and pipelines name lives in their body.

use std::collections::HashMap;

use super::Checker;
use crate::prose::ast::visit::{NameKind, each_declared};
use crate::prose::ast::{Body, Mutability, Name};
use crate::prose::codes::Code;
use crate::prose::nearest;
use crate::prose::source::Span;

/// With more names than this, none is suggested: searching them for every mistake would take too long.
pub(super) const MOST_NAMES: usize = 1_000;

/// Suggests the known name that is most like one that is not known.
pub(super) fn suggestion<'n>(name: &Name, known: impl ExactSizeIterator<Item = &'n str>) -> Option<String> {
    let mut known: Vec<&str> = if known.len() > MOST_NAMES { Vec::new() } else { known.collect() };
    // The same suggestion each time, whatever the order of a hash map.
    known.sort_unstable();
    nearest(name.as_str(), known).map(|near| format!("did you mean `{near}`?"))
}

#[derive(Debug, Clone, Copy)]
struct Declared {
    span: Span,
    kind: NameKind,
    scope: u32,
}

/// A name that lives in one body only.
#[derive(Debug, Clone, Copy)]
struct Local<'a> {
    name: &'a str,
    span: Span,
    what: &'static str,
}

/// The names of the top level, or of a block.
#[derive(Debug, Default)]
pub(super) struct Declarations<'a> {
    declared: HashMap<&'a str, Declared>,
    locals: Vec<Local<'a>>,
    /// Scopes that are open, from outside in.
    open: Vec<u32>,
    next_scope: u32,
    /// Where each name is first declared, also below.
    coming: HashMap<&'a str, Span>,
}

impl<'a> Declarations<'a> {
    pub(super) fn of(body: &'a Body) -> Self {
        let mut coming = HashMap::new();
        each_declared(body, |name, kind| {
            if kind != NameKind::Local {
                coming.entry(name.as_str()).or_insert(name.span);
            }
        });
        Self { coming, ..Self::default() }
    }

    pub(super) fn open(&mut self) {
        self.open.push(self.next_scope);
        self.next_scope += 1;
    }

    pub(super) fn close(&mut self) {
        self.open.pop();
    }

    /// Returns how many names are visible in the body that is looked at alone.
    pub(super) fn local_count(&self) -> usize {
        self.locals.len()
    }

    /// Leaves a body: only so many local names stay visible.
    pub(super) fn forget_locals(&mut self, outer: usize) {
        self.locals.truncate(outer);
    }

    fn scope(&self) -> u32 {
        self.open.last().copied().unwrap_or(0)
    }

    fn place(&self, name: &str) -> Option<Span> {
        let local = self.locals.iter().rev().find(|local| local.name == name).map(|local| local.span);
        local.or_else(|| self.declared.get(name).map(|declared| declared.span))
    }
}

impl<'a> Checker<'a> {
    /// Returns where a name that can be used here is declared.
    pub(super) fn visible(&self, name: &str) -> Option<Span> {
        let own = self.frame.place(name);
        own.or_else(|| if self.in_block { self.root.place(name) } else { None })
    }

    /// Returns all names that can be used here.
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
        // The same suggestion each time, whatever the order of a hash map.
        names.sort_unstable();
        names.into_iter()
    }

    /// Returns what to do about a name that is not defined.
    pub(super) fn advice(&self, used: &Name, usual: &str) -> String {
        let name = used.as_str();
        if let Some(later) = self.frame.coming.get(name).filter(|later| later.start() > used.span.start()) {
            let line = self.source.line_of(later.start());
            return format!("`{name}` is defined on line {line}, after this: move its definition up");
        }
        if self.definitions.blocks.contains_key(name) {
            return format!("`{name}` is a block: write `do {name}`");
        }
        if self.definitions.agents.contains_key(name) {
            return format!("`{name}` is an agent: write `session: {name}`");
        }
        match nearest(name, self.names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => usual.to_owned(),
        }
    }

    /// Declares a variable.
    pub(super) fn declare(&mut self, name: &'a Name, kind: NameKind) {
        self.against_agents(name);
        let scope = self.frame.scope();
        let text = name.as_str();
        let first = self.frame.declared.get(text).copied();
        if let Some(first) = first {
            self.again(name, kind, first);
        } else if let Some(elsewhere) = self.everywhere.get(text).copied() {
            self.elsewhere(name, elsewhere);
        }
        self.everywhere.entry(text).or_insert(name.span);
        self.frame.declared.insert(text, Declared { span: name.span, kind, scope });
    }

    fn again(&mut self, name: &Name, kind: NameKind, first: Declared) {
        let same = first.scope == self.frame.scope();
        let nested = self.frame.open.contains(&first.scope);
        let text = &name.text;
        let (code, message) = match (first.kind, kind) {
            (NameKind::Input, NameKind::Input) if same => {
                (Code::E021, format!("the input `{text}` is declared twice"))
            }
            (NameKind::Output, NameKind::Output) if same => {
                (Code::E024, format!("the output `{text}` is declared twice"))
            }
            // Only one of two branches is taken, and each may have its output.
            (NameKind::Output, NameKind::Output) if !nested => return,
            (_, NameKind::Output) if same => {
                (Code::HPW004, format!("the output `{text}` has the name of a variable"))
            }
            _ if same => (Code::E019, format!("the variable `{text}` is already defined")),
            _ => (Code::HPW004, format!("the name `{text}` is used again here")),
        };
        self.reports.add(code, name.span, message).related(first.span, "first defined here");
    }

    fn elsewhere(&mut self, name: &Name, first: Span) {
        let message = format!("the name `{}` is used again here", name.text);
        self.reports.add(Code::HPW004, name.span, message).related(first, "first defined here");
    }

    fn against_agents(&mut self, name: &Name) {
        if let Some(agent) = self.agent(name.as_str()) {
            let message = format!("`{}` is the name of an agent", name.text);
            self.reports.add(Code::HPE003, name.span, message).related(agent.name.span, "the agent");
        }
    }

    /// Assigns a variable.
    pub(super) fn assign(&mut self, name: &'a Name) {
        let text = name.as_str();
        if let Some(local) = self.frame.locals.iter().rev().find(|local| local.name == text).copied() {
            let message = format!("`{text}` is the {} here and cannot be assigned", local.what);
            self.reports.add(Code::HPE001, name.span, message).related(local.span, "it is named here");
            return;
        }
        let declared = self.frame.declared.get(text);
        let declared = declared.or_else(|| if self.in_block { self.root.declared.get(text) } else { None });
        match declared.copied() {
            Some(Declared { kind: NameKind::Bound(Mutability::Const), span, .. }) => {
                let message = format!("`{text}` is a constant and cannot be assigned again");
                self.reports
                    .add(Code::HPE001, name.span, message)
                    .related(span, "declared with `const` here");
            }
            Some(_) => {}
            None => {
                let hint = self.advice(name, "write `let` before it");
                let message = format!("`{text}` was never declared");
                self.reports.add(Code::HPW020, name.span, message).hint(hint);
                self.declare(name, NameKind::Assigned);
            }
        }
    }

    /// Names something for the body that comes next.
    pub(super) fn local(&mut self, name: &'a Name, what: &'static str) {
        self.against_agents(name);
        self.local_text(name.as_str(), name.span, what);
    }

    pub(super) fn local_text(&mut self, name: &'a str, span: Span, what: &'static str) {
        if let Some(outer) = self.visible(name) {
            let message = format!("the {what} `{name}` hides an outer one");
            self.reports.add(Code::HPW005, span, message).related(outer, "the outer one");
        }
        self.frame.locals.push(Local { name, span, what });
    }
}
