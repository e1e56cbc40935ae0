//! `find`: which files its expression reaches, and what is done with them.

use std::rc::Rc;

use crate::changes::PlacedFile;
use crate::command_end::{CommandEnd, Flow, MOST_OUTPUT, Outcome};
use crate::commands::find_expression::{self, FindOrder, FindTerm, Holds};
use crate::commands::loss::{Loss, LossVerb};
use crate::fields::{Argument, shown_words};
use crate::interpreter::Interpreter;
use crate::look::FileKind;
use crate::names::text_of;

/// What one `find` has done so far.
struct FindWork {
    order: FindOrder,
    /// What is printed; `None` if that is not known.
    output: Option<String>,
    loss: Loss,
    possible_loss: Loss,
    /// The files of each command that gets all of them at once, and whether it may get fewer.
    batches: Vec<(Vec<Argument>, Vec<Argument>, bool)>,
    /// Whether something may have failed: a command that was run, a folder that is missing or not empty.
    may_fail: bool,
}

/// A file that `find` has come to.
struct FoundFile<'a> {
    file: &'a PlacedFile,
    /// Its path as `find` writes it.
    written: &'a str,
    prunes: Holds,
}

impl Interpreter<'_> {
    pub(crate) fn find(&mut self, arguments: &[Argument]) -> CommandEnd {
        let unknown = arguments.iter().find(|argument| argument.known_text().is_none());
        let order = if unknown.is_none() { find_expression::read(arguments) } else { None };
        let Some(order) = order else {
            let is_act = |text: &str| {
                text == "-delete" || ["-exec", "-ok", "-f"].iter().any(|act| text.starts_with(act))
            };
            if arguments.iter().any(|argument| argument.known_text().is_none_or(is_act)) {
                let what =
                    unknown.map_or_else(|| shown_words(arguments), |one| one.display_text().to_owned());
                self.not_known(format!("what find does: {what}"));
            }
            return CommandEnd::unknown();
        };
        let starts = order.starts.clone();
        let mut work = FindWork {
            order,
            output: Some(String::new()),
            loss: Loss::new(LossVerb::Deletes, false),
            possible_loss: Loss::new(LossVerb::Deletes, true),
            batches: Vec::new(),
            may_fail: false,
        };
        for start in &starts {
            self.find_below(&mut work, start);
        }
        let may_fail = work.may_fail || !work.batches.is_empty();
        self.report(work.loss);
        self.report(work.possible_loss);
        for (command, files, is_possible) in work.batches {
            self.conditions += usize::from(is_possible);
            let mut run: Vec<Argument> = command;
            run.retain(|part| part.known_text() != Some("{}"));
            run.extend(files);
            self.start_command(&run, false);
            self.conditions -= usize::from(is_possible);
        }
        CommandEnd { outcome: if may_fail { Outcome::Unknown } else { Outcome::Likely }, output: work.output }
    }

    /// Goes through one of the places that `find` starts at.
    fn find_below(&mut self, work: &mut FindWork, start: &Argument) {
        let text = start.known_text().unwrap_or_default();
        if text.is_empty() {
            work.may_fail = true;
            return;
        }
        let follows = work.order.follows_starts || text.ends_with('/');
        let Some(path) = self.full(text) else {
            self.not_known(format!("what find does in {text}, in a folder that is not known"));
            work.output = None;
            return;
        };
        if let Argument::Known(known) = start {
            self.widen(&mut work.loss, known);
            self.widen(&mut work.possible_loss, known);
        }
        match self.files.find(&path, follows) {
            Some(file) => self.find_at(work, &file, text, 0),
            None => work.may_fail = true,
        }
    }

    fn find_at(&mut self, work: &mut FindWork, file: &PlacedFile, written: &str, depth: usize) {
        if !self.files.may_look() || !self.spend(4 * written.len()) {
            work.output = None;
            return;
        }
        let is_folder = file.is_folder();
        let term = Rc::clone(&work.order.term);
        let is_in = depth >= work.order.least;
        let mut found = FoundFile { file, written, prunes: Holds::No };
        if !work.order.is_deep_first && is_in {
            self.evaluate(work, &term, &mut found, false);
        }
        let goes_in = is_folder && depth < work.order.deepest && found.prunes != Holds::Yes;
        if goes_in && found.prunes == Holds::Maybe {
            work.output = None;
        }
        if goes_in {
            self.conditions += usize::from(found.prunes == Holds::Maybe);
            for name in self.files.names(&file.path) {
                let path = file.path.join(&name);
                let inner = match work.order.follows {
                    true => self.files.find(&path, true).or_else(|| self.files.at(&path)),
                    false => self.files.at(&path),
                };
                if let Some(inner) = inner {
                    let slash = if written.ends_with('/') { "" } else { "/" };
                    self.find_at(work, &inner, &format!("{written}{slash}{}", text_of(&name)), depth + 1);
                }
            }
            self.conditions -= usize::from(found.prunes == Holds::Maybe);
        }
        if work.order.is_deep_first && is_in {
            self.evaluate(work, &term, &mut found, false);
        }
    }

    /// Evaluates an expression. `may` is whether it is not known that it comes to this.
    fn evaluate(
        &mut self,
        work: &mut FindWork,
        term: &FindTerm,
        found: &mut FoundFile<'_>,
        may: bool,
    ) -> Holds {
        let stat = found.file.stat;
        match term {
            FindTerm::And(terms) => self.evaluate_until(Holds::No, work, terms, found, may),
            FindTerm::Or(terms) => self.evaluate_until(Holds::Yes, work, terms, found, may),
            FindTerm::Not(inner) => self.evaluate(work, inner, found, may).opposite(),
            FindTerm::Name(pattern, is_folded) => {
                let name = found.written.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                let name = if *is_folded { name.to_lowercase() } else { name.to_owned() };
                self.fits(pattern, &name).into()
            }
            FindTerm::Path(pattern) => self.fits(pattern, found.written).into(),
            FindTerm::Kind(kinds) => Some(kinds.contains(&stat.kind)).into(),
            FindTerm::Empty => match stat.kind {
                FileKind::Folder => Some(self.files.names(&found.file.path).is_empty()).into(),
                FileKind::File if found.file.origin.is_some() => Some(stat.bytes == 0).into(),
                _ => Holds::Maybe,
            },
            FindTerm::True => Holds::Yes,
            FindTerm::Open => Holds::Maybe,
            FindTerm::Prune => {
                if !work.order.is_deep_first {
                    found.prunes = if may { Holds::Maybe } else { Holds::Yes };
                }
                Holds::Yes
            }
            FindTerm::Delete => self.find_deletes(work, found, may),
            FindTerm::Print(end) => {
                match &mut work.output {
                    Some(output)
                        if !may
                            && self.conditions == 0
                            && output.len() < MOST_OUTPUT
                            && !self.files.is_possible(&found.file.path) =>
                    {
                        output.push_str(found.written);
                        output.push(*end);
                    }
                    output => *output = None,
                }
                Holds::Yes
            }
            FindTerm::Run(command, is_all) => self.find_runs(work, command, *is_all, found, may),
        }
    }

    /// Evaluates expressions until one decides: one of `and` that does not hold, one of `or` that does.
    fn evaluate_until(
        &mut self,
        decisive: Holds,
        work: &mut FindWork,
        terms: &[FindTerm],
        found: &mut FoundFile<'_>,
        may: bool,
    ) -> Holds {
        let mut so_far = decisive.opposite();
        for term in terms {
            match self.evaluate(work, term, found, may || so_far == Holds::Maybe) {
                Holds::Maybe => so_far = Holds::Maybe,
                held if held == decisive => return decisive,
                _ => {}
            }
        }
        so_far
    }

    fn find_deletes(&mut self, work: &mut FindWork, found: &FoundFile<'_>, may: bool) -> Holds {
        let file = found.file;
        let is_full = file.is_folder() && !self.files.names(&file.path).is_empty();
        if found.written.trim_end_matches('/') == "." {
            return Holds::Yes;
        }
        work.may_fail |= is_full || may;
        if is_full {
            return Holds::No;
        }
        let loss = if may { &mut work.possible_loss } else { &mut work.loss };
        let mut own = std::mem::replace(loss, Loss::new(LossVerb::Deletes, may));
        self.lose(&mut own, file);
        *(if may { &mut work.possible_loss } else { &mut work.loss }) = own;
        if !may {
            self.files.remove(&file.path);
        }
        Holds::Yes
    }

    fn find_runs(
        &mut self,
        work: &mut FindWork,
        command: &[Argument],
        is_all: bool,
        found: &FoundFile<'_>,
        may: bool,
    ) -> Holds {
        let item = Argument::text(found.written);
        if is_all {
            let all = work.batches.iter_mut().find(|(known, ..)| known == command);
            match all {
                Some((_, files, is_possible)) => {
                    files.push(item);
                    *is_possible |= may;
                }
                None => work.batches.push((command.to_vec(), vec![item], may)),
            }
            return Holds::Yes;
        }
        (work.output, work.may_fail) = (None, true);
        let run = self.put_all(command, "{}", &item);
        if self.flow != Flow::On {
            return Holds::Maybe;
        }
        match self.start_command(&run, may).outcome {
            Outcome::Success | Outcome::Likely if !may => Holds::Yes,
            Outcome::Failure if !may => Holds::No,
            _ => Holds::Maybe,
        }
    }
}
