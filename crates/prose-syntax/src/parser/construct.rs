//! Constructs that run a body several times or several bodies at once: parallel, repeat, for, loop; and `do`.

use std::num::NonZeroU32;

use strum::{EnumString, VariantNames};

use super::{ParseFailure, Parsed, Parser};
use crate::ast::{
    Branch, Expr, For, ForMode, Invocation, Join, Loop, LoopTest, Parallel, ParallelOnFail, Repeat, Spanned,
    Statement, StatementKind,
};
use crate::codes::RuleCode;
use crate::source::Span;
use crate::token::{Bracket, TokenKind};

/// A join strategy, without its count.
#[derive(Clone, Copy, PartialEq, Eq, Default, EnumString, VariantNames, strum::Display)]
#[strum(serialize_all = "lowercase")]
enum Strategy {
    #[default]
    All,
    First,
    Any,
}

/// The modifiers in the brackets of a parallel block.
#[derive(Default)]
struct Modifiers {
    strategy: Strategy,
    count: Option<(Option<NonZeroU32>, Span)>,
    on_fail: Option<ParallelOnFail>,
}

impl Parser<'_> {
    /// Parses `do:` or `do block(…)`.
    pub(super) fn parse_do(&mut self) -> Parsed<Expr> {
        let start = self.bump();
        if self.kind() == TokenKind::Colon || self.opens_block(0) {
            let value = self.body("`do`", start);
            return Ok(Expr::Do(Spanned { value, span: self.since(start.span) }));
        }
        let block = self.name("the name of a block")?;
        let mut arguments = Vec::new();
        if self.kind() == TokenKind::Open(Bracket::Round) {
            self.between(Bracket::Round, |parser| {
                arguments.push(parser.value()?);
                Ok(())
            })?;
        }
        let span = self.since(start.span);
        if self.kind() == TokenKind::Colon {
            let colon = self.token().span;
            let hint = "a block is defined with `block name:`, and called with `do name` without a colon";
            return Err(self.invalid(colon, "a block that is called has no body of its own here", hint));
        }
        self.properties("a block call", &["(none)"], |_, _, _| Ok(()));
        Ok(Expr::Invoke(Invocation { block, arguments, span }))
    }

    pub(super) fn parallel(&mut self) -> Parsed<Parallel> {
        let start = self.bump();
        let modifiers = self.modifiers()?;
        let outer = self.branches_at.replace(self.depth + 1);
        let body = self.body("`parallel`", start);
        self.branches_at = outer;
        let branches: Vec<Branch> = body.iter().cloned().map(branch).collect();
        let join = self.join(&modifiers, branches.len());
        let on_fail = modifiers.on_fail.unwrap_or(ParallelOnFail::FailFast);
        Ok(Parallel { join, on_fail, branches, span: self.since(start.span) })
    }

    /// Parses the modifiers in brackets, if there are any.
    fn modifiers(&mut self) -> Parsed<Modifiers> {
        let mut modifiers = Modifiers::default();
        if self.kind() == TokenKind::Open(Bracket::Round) {
            self.between(Bracket::Round, |parser| {
                parser.modifier(&mut modifiers);
                Ok(())
            })?;
        }
        Ok(modifiers)
    }

    fn modifier(&mut self, into: &mut Modifiers) {
        let token = self.token();
        if token.kind != TokenKind::Word || self.kind_at(1) != TokenKind::Colon {
            match self.one_of(RuleCode::HPE008, "a join strategy") {
                Ok(strategy) => into.strategy = strategy.value,
                Err(ParseFailure) => self.skip_modifier(),
            }
            return;
        }
        let key = self.source.slice(token.span).to_owned();
        self.bump();
        self.bump();
        match &*key {
            "count" => {
                let span = self.token().span;
                into.count = Some((self.positive(RuleCode::HPE011, "the count"), span));
            }
            "on-fail" => into.on_fail = self.policy(),
            _ => {
                let message = format!("a parallel block has no property `{key}`; it is ignored");
                self.reports
                    .add(RuleCode::W005, token.span, message)
                    .hint("it has a join strategy, `on-fail` and `count`");
                self.skip_modifier();
            }
        }
    }

    /// Skips to the end of a modifier that could not be parsed.
    fn skip_modifier(&mut self) {
        let ends =
            |kind: TokenKind| kind.is_layout() || matches!(kind, TokenKind::Comma | TokenKind::Close(_));
        while !ends(self.kind()) {
            self.bump();
        }
    }

    fn policy(&mut self) -> Option<ParallelOnFail> {
        let token = self.token();
        if self.source.slice(token.span) == "\"collect\"" {
            self.bump();
            self.reports.add(RuleCode::HPW021, token.span, "\"collect\" is an old word for \"continue\"");
            return Some(ParallelOnFail::Continue);
        }
        match self.one_of(RuleCode::HPE009, "on-fail") {
            Ok(policy) => Some(policy.value),
            Err(ParseFailure) => {
                self.skip_modifier();
                None
            }
        }
    }

    fn join(&mut self, modifiers: &Modifiers, branches: usize) -> Join {
        let strategy = modifiers.strategy;
        let one = NonZeroU32::MIN;
        let Some((count, span)) = modifiers.count else {
            return match strategy {
                Strategy::First => Join::First,
                Strategy::Any => Join::Any(one),
                Strategy::All => Join::All,
            };
        };
        if strategy != Strategy::Any {
            self.reports.add(RuleCode::HPE010, span, format!("a count does not go with \"{strategy}\""));
            return Join::All;
        }
        let count = count.unwrap_or(one);
        if usize::try_from(count.get()).is_ok_and(|count| count > branches) {
            let many =
                if branches == 1 { "is 1 branch".to_owned() } else { format!("are {branches} branches") };
            let message = format!("it waits for {count} successes, and there {many}");
            self.reports.add(RuleCode::HPW006, span, message);
        }
        Join::Any(count)
    }

    pub(super) fn repeat(&mut self) -> Parsed<Repeat> {
        let start = self.bump();
        let count = self.count(RuleCode::HPE012, "the count of a repeat");
        let index = self.as_name()?;
        let body = self.body("`repeat`", start);
        let span = self.since(start.span);
        let count = count.unwrap_or(crate::ast::Count::Number(NonZeroU32::MIN));
        Ok(Repeat { count, index, body, span })
    }

    /// Parses `for` or `parallel for`.
    pub(super) fn parse_for(&mut self) -> Parsed<Expr> {
        let start = self.token();
        let mode = if self.eat_word("parallel") { ForMode::Parallel } else { ForMode::Sequential };
        self.bump();
        let item = self.name("a name for the element")?;
        let index = if self.eat(TokenKind::Comma) { Some(self.name("a name for the count")?) } else { None };
        self.need_word("in")?;
        let collection = Box::new(self.collection(mode)?);
        let on_fail = match mode {
            ForMode::Parallel => self.on_fail_of_each()?,
            ForMode::Sequential => ParallelOnFail::FailFast,
        };
        let body = self.body("`for`", start);
        let span = self.since(start.span);
        Ok(Expr::For(For { mode, on_fail, item, index, collection, body, span }))
    }

    /// Parses what users write after the collection of `parallel for`; the language has it for `parallel` only.
    fn on_fail_of_each(&mut self) -> Parsed<ParallelOnFail> {
        let open = self.token().span;
        let modifiers = self.modifiers()?;
        let span = self.since(open);
        if modifiers.strategy != Strategy::All || modifiers.count.is_some() {
            self.invalid(span, "`parallel for` waits for all its iterations", "leave this out");
        }
        let Some(on_fail) = modifiers.on_fail else { return Ok(ParallelOnFail::FailFast) };
        self.old_form(
            span,
            "`on-fail` after `parallel for`",
            "write a `try` around what may fail in the body",
        );
        Ok(on_fail)
    }

    fn collection(&mut self, mode: ForMode) -> Parsed<Expr> {
        let opens_modifiers = self.kind() == TokenKind::Word
            && self.kind_at(1) == TokenKind::Open(Bracket::Round)
            && (self.word_at(2) == "on-fail" || self.is_string(2));
        if opens_modifiers && mode == ForMode::Parallel {
            let token = self.bump();
            return Ok(Expr::Name(self.name_of(token)));
        }
        if self.kind() != TokenKind::Word && self.kind() != TokenKind::Open(Bracket::Square) {
            return Err(self.mismatch("a variable or a list"));
        }
        let value = self.operand()?;
        if let Expr::Name(_) | Expr::Property(_) | Expr::List(_) = value {
            return Ok(value);
        }
        Err(self.invalid(
            value.span(),
            "`for` goes over a variable or a list",
            "bind the value with `let` first",
        ))
    }

    pub(super) fn parse_loop(&mut self) -> Parsed<Loop> {
        let start = self.bump();
        let test = if self.eat_word("until") {
            LoopTest::Until(self.condition("until")?)
        } else if self.eat_word("while") {
            LoopTest::While(self.condition("while")?)
        } else {
            LoopTest::Forever
        };
        let (mut max, mut limited) = (None, false);
        if self.kind() == TokenKind::Open(Bracket::Round) {
            let open = self.bump();
            limited = true;
            if !self.eat_word("max") || !self.eat(TokenKind::Colon) {
                return Err(self.mismatch("`max:` and a number"));
            }
            max = self.count(RuleCode::OPE003, "the maximum of a loop");
            self.close(Bracket::Round, open)?;
        }
        let index = self.as_name()?;
        if self.kind() == TokenKind::Open(Bracket::Round) || matches!(self.word(), "until" | "while") {
            let span = self.token().span;
            let hint = "write `loop until **…** (max: 10) as i:`";
            return Err(self.invalid(span, "the parts of a loop stand in another order", hint));
        }
        if test == LoopTest::Forever && !limited {
            self.reports.add(RuleCode::OPW001, start.span, "nothing ends this loop");
        }
        let body = self.body("`loop`", start);
        Ok(Loop { test, max, index, body, span: self.since(start.span) })
    }
}

/// Creates a branch from a statement: `name = …` names it.
fn branch(statement: Statement) -> Branch {
    match statement.kind {
        StatementKind::Assign(assigned) => Branch::Named { name: assigned.name, value: assigned.value },
        kind => Branch::Statement(Statement { kind, ..statement }),
    }
}
