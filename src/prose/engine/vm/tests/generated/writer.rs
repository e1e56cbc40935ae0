//! Turns random programs into source text.

use std::fmt::Write as _;

use super::{Branch, Cmd, Fork, Piece, Source, fails, may_fail, piece_may_fail};

/// Writes a program.
pub(super) struct Writer {
    pub(super) text: String,
    depth: usize,
    next: usize,
    pub(super) blocks: usize,
    /// Names whose values distinguish this pass, branch or call from the others.
    pub(super) turns: Vec<String>,
    /// The names with a value in each scope; true for those that can be assigned to.
    names: Vec<Vec<(String, bool)>>,
    /// Scopes before this index belong to the code that forked.
    own: usize,
    /// The same statements may be running concurrently.
    at_once: bool,
    pub(super) forks: bool,
    pub(super) races: bool,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            text: String::new(),
            depth: 0,
            next: 0,
            blocks: 0,
            turns: vec![],
            names: vec![vec![]],
            own: 0,
            at_once: false,
            forks: false,
            races: false,
        }
    }
}

impl Writer {
    pub(super) fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(self.depth));
    }

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// A word for this place in the program that differs in each turn.
    fn word(&mut self, letter: char) -> String {
        let turns: String = self.turns.iter().map(|turn| format!("-{{{turn}}}")).collect();
        format!("{letter}{}{turns}", self.number())
    }

    pub(super) fn all(&mut self, pieces: &[Piece]) {
        pieces.iter().for_each(|piece| self.piece(piece));
    }

    /// Writes statements in a scope of their own.
    pub(super) fn body(&mut self, pieces: &[Piece]) {
        self.scoped(|writer| writer.all(pieces));
    }

    fn scoped(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        self.names.push(vec![]);
        write(self);
        self.names.pop();
        self.depth -= 1;
    }

    /// Writes a body that is run several times, with another value of the name each time.
    fn turning(&mut self, turn: String, element: Option<String>, body: &[Piece]) {
        self.turns.push(turn);
        self.scoped(|writer| {
            writer.bind(element, false);
            writer.all(body);
        });
        self.turns.pop();
    }

    fn bind(&mut self, names: impl IntoIterator<Item = String>, is_variable: bool) {
        let scope = self.names.last_mut().expect("a scope");
        scope.extend(names.into_iter().map(|name| (name, is_variable)));
    }

    fn some_name(&self, which: usize) -> Option<String> {
        let names: Vec<_> = self.names.iter().flatten().collect();
        (!names.is_empty()).then(|| names[which % names.len()].0.clone())
    }

    fn command(&mut self, cmd: &Cmd, item: &str) -> String {
        let word = self.word('s');
        let moves = if cmd.moves { " cd" } else { "" };
        let inserted = match self.some_name(cmd.inserts) {
            Some(name) if !cmd.inserts.is_multiple_of(3) => format!(" :: {{{name}}}"),
            _ => String::new(),
        };
        format!("exec \"{word}{item} {} {} {}{moves}{inserted}\"", cmd.exit, cmd.lines, cmd.seconds)
    }

    fn policy(&mut self, cmd: &Cmd) {
        if let Some(on_fail) = cmd.on_fail {
            self.line(&format!("  on-fail: \"{on_fail}\""));
        }
    }

    /// Writes a statement that ends with a source.
    fn sourced(&mut self, before: &str, source: &Source) {
        match source {
            Source::Cmd(cmd) => {
                let command = self.command(cmd, "");
                self.line(&format!("{before}{command}"));
                self.policy(cmd);
            }
            Source::Text(which) => {
                let inserted = self.some_name(*which).map(|name| format!("{{{name}}}")).unwrap_or_default();
                let word = self.word('t');
                self.line(&format!("{before}\"{word}{inserted}\""));
            }
            Source::Pipe(stage, count, cmd) => {
                self.forks |= *stage == "pmap";
                self.races |= *stage == "pmap" && fails(cmd);
                let item = if stage.starts_with("reduce") { "-{it}" } else { "-{item}" };
                let list: Vec<String> = (0..*count).map(|at| format!("\"i{at}\"")).collect();
                let command = self.command(cmd, item);
                self.line(&format!("{before}[{}] | {stage}:", list.join(", ")));
                self.depth += 1;
                self.line(&command);
                self.policy(cmd);
                self.depth -= 1;
            }
            Source::Call(which) => {
                let call = self.call(*which);
                self.line(&format!("{before}{call}"));
            }
            Source::Branches(fork) => {
                // It is not one of the block's own names, so nothing inside sees it.
                self.fork(before, fork);
            }
        }
    }

    fn call(&mut self, which: usize) -> String {
        let word = self.word('c');
        match self.blocks {
            0 => format!("\"{word}\""),
            blocks => format!("do f{}(\"{word}\")", which % blocks),
        }
    }

    fn fork(&mut self, before: &str, fork: &Fork) {
        let join = match fork.join {
            "any" => format!("\"any\", count: {}", fork.branches.len().div_ceil(2)),
            join => format!("\"{join}\""),
        };
        self.line(&format!("{before}parallel ({join}, on-fail: \"{}\"):", fork.on_fail));
        self.forks = true;
        self.races |= fork.join != "all" || fork.on_fail == "fail-fast" && fork.branches.iter().any(may_fail);
        let own = std::mem::replace(&mut self.own, self.names.len());
        let mut bound = vec![];
        self.depth += 1;
        for branch in &fork.branches {
            match branch {
                Branch::Named(cmd) => {
                    let name = format!("b{}", self.number());
                    let command = self.command(cmd, "");
                    self.line(&format!("{name} = {command}"));
                    self.policy(cmd);
                    bound.push(name);
                }
                Branch::Body(pieces) => {
                    self.line("do:");
                    self.body(pieces);
                }
            }
        }
        self.depth -= 1;
        self.own = own;
        if fork.join == "all" {
            self.bind(bound, false);
        }
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Cmd(cmd) => self.sourced("", &Source::Cmd(cmd.clone())),
            Piece::Let(source) => self.binding("let", 'v', source, true),
            Piece::Const(source) => self.binding("const", 'k', source, false),
            Piece::Output(source) => {
                // The last one to arrive wins.
                self.races |= self.at_once;
                self.binding("output", 'o', source, false);
            }
            Piece::Assign(which, source) => {
                let own = self.names[self.own..].iter().flatten();
                let names: Vec<String> =
                    own.filter(|(_, is_variable)| *is_variable).map(|(name, _)| name.clone()).collect();
                match names.get(which % names.len().max(1)) {
                    Some(name) => self.sourced(&format!("{name} = "), source),
                    None => self.binding("let", 'v', source, true),
                }
            }
            Piece::Throw => {
                let word = self.word('e');
                self.line(&format!("throw \"{word}\""));
            }
            Piece::Gate(on_reject) => {
                let word = self.word('g');
                let number = self.number();
                self.line(&format!("gate g{number}:"));
                self.line(&format!("  prompt: \"{word}\""));
                self.line(&format!("  on_reject: {on_reject}"));
            }
            Piece::Session => {
                let word = self.word('a');
                self.line(&format!("session \"{word}\""));
            }
            Piece::Call(which) => {
                let call = self.call(*which);
                let line = if self.blocks == 0 { format!("session {call}") } else { call };
                self.line(&line);
            }
            nested => self.nested(nested),
        }
    }

    fn binding(&mut self, keyword: &str, letter: char, source: &Source, is_variable: bool) {
        let name = format!("{letter}{}", self.number());
        self.sourced(&format!("{keyword} {name} = "), source);
        self.bind([name], is_variable);
    }

    fn nested(&mut self, piece: &Piece) {
        let number = self.number();
        match piece {
            Piece::Repeat(count, body) => {
                self.line(&format!("repeat {count} as r{number}:"));
                self.turning(format!("r{number}"), None, body);
            }
            Piece::For(count, over, at_once, body) => {
                let list: Vec<String> = (0..*count).map(|at| format!("\"x{at}\"")).collect();
                let over = over.and_then(|which| self.some_name(which));
                let over = over.unwrap_or_else(|| format!("[{}]", list.join(", ")));
                let parallel = if *at_once { "parallel " } else { "" };
                self.line(&format!("{parallel}for x{number}, n{number} in {over}:"));
                self.forks |= at_once;
                self.races |= *at_once && body.iter().any(piece_may_fail);
                let own = self.own;
                self.own = if *at_once { self.names.len() } else { own };
                let outer = self.at_once;
                self.at_once |= at_once;
                self.turning(format!("n{number}"), Some(format!("x{number}")), body);
                (self.own, self.at_once) = (own, outer);
            }
            Piece::Loop(body) => {
                let word = self.word('q');
                self.line(&format!("loop until **it is done {word}** (max: 3) as l{number}:"));
                self.turning(format!("l{number}"), None, body);
            }
            Piece::Fork(fork) => self.fork("", fork),
            Piece::If(yes, no) => {
                let word = self.word('q');
                self.line(&format!("if **it is so {word}**:"));
                self.body(yes);
                self.line("else:");
                self.body(no);
            }
            Piece::Choice(one, two) => {
                let word = self.word('q');
                self.line(&format!("choice **which one {word}**:"));
                for (label, body) in [("one", one), ("two", two)] {
                    self.line(&format!("  option \"{label}\":"));
                    self.depth += 1;
                    self.body(body);
                    self.depth -= 1;
                }
            }
            Piece::Try(body, catch, finally) => {
                self.line("try:");
                self.body(body);
                self.line(&format!("catch as e{number}:"));
                self.scoped(|writer| {
                    writer.bind([format!("e{number}")], false);
                    writer.all(catch);
                });
                if let Some(finally) = finally {
                    self.line("finally:");
                    self.body(finally);
                }
            }
            leaf => self.piece(leaf),
        }
    }
}
