//! Questions of a program: the state of the dialog, what it shows, and what keys do in it. A deciding key
//! only counts once the question has been on screen for a moment. Pure.

pub mod answer;
pub mod draw;
pub mod permission;

use std::sync::Arc;

use jiff::Timestamp;
use tui_input::Input as Editor;

use crate::console::keys::{Action, KeyContext};
use crate::console::state::State;
use crate::console::state::questions::title;
use crate::console::text::{StyledPiece, piece, visible};
use crate::console::theme::Role;
use crate::console::widgets::{CardLine, CardReading, card_rows, places, sentences};
use crate::model::{
    AgentPrompt, AnswerInput, AnswerValue, BindingView, ExpectedAnswerer, Question, QuestionKind,
};

/// Maximum number of rows shown of a value.
const VALUE_LINES: usize = 6;
/// Maximum number of characters shown of a session's name.
const SESSION_CHARS: usize = 8;

/// A question in its dialog.
#[derive(Debug, Clone)]
pub struct QuestionDialog {
    /// The question as last published.
    pub question: Arc<Question>,
    /// How far it has been read.
    pub reading: CardReading,
    /// The highlighted label, if any.
    pub chosen: Option<usize>,
    /// The answer being typed.
    pub answer: Editor,
    /// The reason, in the user's words.
    pub note: Editor,
    /// Whether the note is being typed.
    pub is_noting: bool,
    /// Whether the note is what the asker is told with a refusal, which is sent with it.
    pub is_denying: bool,
    /// Whether the answer has been sent.
    pub is_sent: bool,
    /// Whether it was settled, by somebody or by a timeout, or withdrawn.
    pub is_over: bool,
    /// Whether it was answered in the agent that asks.
    pub in_agent: bool,
}

impl QuestionDialog {
    /// Opens a question.
    pub fn new(question: Arc<Question>) -> Self {
        Self {
            question,
            reading: CardReading::default(),
            chosen: None,
            answer: Editor::default(),
            note: Editor::default(),
            is_noting: false,
            is_denying: false,
            is_sent: false,
            is_over: false,
            in_agent: false,
        }
    }

    /// Returns the context whose key bindings apply.
    pub fn context(&self) -> KeyContext {
        if self.is_over {
            return KeyContext::Settled;
        }
        if self.is_noting {
            return KeyContext::Reason;
        }
        match self.question.kind {
            QuestionKind::Gate { .. } | QuestionKind::Command | QuestionKind::AgentPrompt(_) => {
                KeyContext::Gate
            }
            QuestionKind::YesNo { .. } => KeyContext::YesNo,
            QuestionKind::Choice { .. } => KeyContext::Choice,
            QuestionKind::Text { .. } => KeyContext::Answer,
            QuestionKind::InFlight => KeyContext::InFlight,
        }
    }

    /// Tells whether a deciding key counts now.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        !self.is_over && !self.is_sent && self.reading.has_settled(now)
    }

    /// Returns the text being typed, if any.
    pub fn editor(&mut self) -> Option<&mut Editor> {
        if self.is_over || self.is_sent || self.reading.shown_at.is_none() {
            return None;
        }
        match (self.is_noting, &self.question.kind) {
            (true, _) => Some(&mut self.note),
            (false, QuestionKind::Text { .. }) => Some(&mut self.answer),
            (false, _) => None,
        }
    }

    /// Returns the answer that an action stands for, if any.
    pub fn answer_for(&self, action: Action) -> Option<AnswerInput> {
        let value = match (action, &self.question.kind) {
            (Action::Yes, _) => AnswerValue::Yes,
            (Action::No, _) => AnswerValue::No,
            (Action::ApproveGate, _) => AnswerValue::Approve,
            (Action::ApproveTurn, _) => AnswerValue::ApproveTurn,
            (Action::ApproveAlike, _) => AnswerValue::ApproveAlike,
            (Action::RejectGate, _) => AnswerValue::Reject,
            (Action::RunAgain, _) => AnswerValue::Rerun,
            (Action::Skip, _) => AnswerValue::Skip,
            (Action::Abort, _) => AnswerValue::Abort,
            (Action::Choose, QuestionKind::Choice { labels }) => {
                AnswerValue::Choice(labels.get(self.chosen?)?.clone())
            }
            (Action::Send, QuestionKind::Text { .. }) => AnswerValue::Text(self.answer.value().to_owned()),
            _ => return None,
        };
        let note = self.note.value().trim();
        let note = (!note.is_empty()).then(|| note.to_owned());
        self.question.kind.accepts(&value).then_some(AnswerInput { value, note })
    }

    /// Moves the highlight to another label.
    pub fn point(&mut self, by: isize) {
        let QuestionKind::Choice { labels } = &self.question.kind else { return };
        let last = labels.len().saturating_sub(1);
        self.chosen = Some(match self.chosen {
            None if by > 0 => 0,
            None => last,
            Some(at) => at.saturating_add_signed(by).min(last),
        });
    }

    /// Returns the rows of the dialog: what is known, and below it what is asked.
    pub(crate) fn rows(&self, state: &State) -> Vec<Vec<StyledPiece>> {
        let room = usize::from(places(state.outer.size, 0, 0).1.width);
        card_rows(&self.lines(), room, state.setup.theme.glyphs.rules[1])
    }

    /// Returns the same as unwrapped lines.
    pub(in crate::console) fn lines(&self) -> Vec<CardLine> {
        let Question { text, evidence, comments, kind, .. } = &*self.question;
        let fact = |text: &str| CardLine::fact(vec![piece(visible::one_line(text), Role::Faint)]);
        let mut lines = vec![self.origin()];
        lines.extend(kind.cost().into_iter().flat_map(sentences::change_lines));
        lines.extend(self.question.expected.iter().map(answerer_line));
        if let Some(workdir) = &evidence.workdir {
            lines.push(fact(&format!("in {}", workdir.to_string_lossy())));
        }
        if let QuestionKind::AgentPrompt(prompt) = kind {
            lines.extend(prompt.cost.commands.iter().flat_map(|all| sentences::facts(all)));
            if !prompt.is_shown_only {
                lines.extend(permission::lines(prompt).iter().map(|line| fact(line)));
            }
        }
        if visible::has_hidden(text) || evidence.command.as_deref().is_some_and(visible::has_hidden) {
            lines.push(CardLine::fact(vec![piece("contains hidden characters", Role::Waiting)]));
        }
        lines.push(CardLine::fact(Vec::new()));
        match kind {
            QuestionKind::AgentPrompt(_) | QuestionKind::Command => lines.extend(CardLine::command(text)),
            _ => lines.extend(CardLine::foreign(text, Role::Strong)),
        }
        if let QuestionKind::YesNo { yes, no } = kind {
            let words = [("yes", yes), ("no", no)].into_iter().filter(|(_, text)| !text.is_empty());
            lines.extend(words.map(|(word, follows)| fact(&format!("{word}: {follows}"))));
        }
        if let Some(command) = &evidence.command {
            lines.extend([CardLine::fact(Vec::new()), fact("the command")]);
            lines.extend(CardLine::command(command));
        }
        for binding in &evidence.bindings {
            lines.push(CardLine::fact(Vec::new()));
            lines.extend(value(binding));
        }
        for comment in comments {
            let said = piece(visible::one_line(&comment.text), Role::Text);
            let comment = vec![piece(format!("{}: ", comment.by), Role::Accent), said];
            lines.extend([CardLine::fact(Vec::new()), CardLine::fact(comment)]);
        }
        lines
    }

    fn origin(&self) -> CardLine {
        let Question { origin, evidence, .. } = &*self.question;
        let file = origin.program.as_ref().and_then(|path| path.file_name());
        let file = file.map(|name| visible::one_line(&name.to_string_lossy()).into_owned());
        let line = origin.lines.map(|lines| format!("line {}", lines.first));
        let pass = evidence.pass.map(|(pass, most)| match most {
            Some(most) => format!("pass {pass} of at most {most}"),
            None => format!("pass {pass}"),
        });
        let prompt = match &self.question.kind {
            QuestionKind::AgentPrompt(prompt) => Some(prompt_origin(prompt)),
            _ => None,
        };
        let facts: Vec<String> = [file, line, pass, prompt].into_iter().flatten().collect();
        CardLine::fact(vec![piece(facts.join("  "), Role::Faint)])
    }

    /// Returns the title: the kind and name of the question.
    pub fn title(&self) -> String {
        title(&self.question)
    }
}

/// Says whose prompt it is, and of which session.
fn prompt_origin(prompt: &AgentPrompt) -> String {
    let session: String = prompt.session.chars().take(SESSION_CHARS).collect();
    let of = match &prompt.subagent {
        Some(subagent) => format!(", subagent {}", visible::one_line(subagent)),
        None => String::new(),
    };
    let how = if prompt.is_shown_only { "it is answered there" } else { "it can be answered there as well" };
    format!("the agent's own prompt; {how}  session {}{of}", visible::one_line(&session))
}

/// Describes who is expected to answer, and with which settings.
fn answerer_line(expected: &ExpectedAnswerer) -> CardLine {
    let ExpectedAnswerer { by, task, agent, model, permissions, skills } = expected;
    let by = visible::one_line(by).into_owned();
    let who = match task {
        Some(_) => format!("{by} is at work on it; your answer ends that"),
        None => format!("answered by {by}"),
    };
    let named = |label: &str, words: &[String]| {
        (!words.is_empty()).then(|| format!("{label} {}", visible::one_line(&words.join(", "))))
    };
    let agent = named("agent", agent.as_slice());
    let model = named("model", model.as_slice());
    let facts = [agent, model, named("permissions", permissions), named("skills", skills)];
    let facts: Vec<String> = std::iter::once(who).chain(facts.into_iter().flatten()).collect();
    CardLine::fact(vec![piece(facts.join("  "), Role::Faint)])
}

fn value(binding: &BindingView) -> Vec<CardLine> {
    let mut head = vec![piece(visible::one_line(&binding.name), Role::Name)];
    if let Some(code) = binding.exit_code {
        let role = if code == 0 { Role::Completed } else { Role::Failed };
        head.push(piece(format!("  exit {code}"), role));
    }
    if binding.timed_out {
        head.push(piece("  timed out", Role::Failed));
    }
    let of = |text: &str, role| CardLine::foreign(text, role).into_iter().take(VALUE_LINES);
    let mut lines = vec![CardLine::fact(head)];
    lines.extend(of(&binding.preview, Role::Text));
    if binding.preview.trim_end().split('\n').nth(VALUE_LINES).is_some() || binding.is_cut {
        let file = binding.file.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let more = format!("{} characters in all  {}", binding.chars, visible::one_line(&file));
        lines.push(CardLine::fact(vec![piece(more.trim_end(), Role::Faint)]));
    }
    if let Some(stderr) = &binding.stderr {
        lines.push(CardLine::fact(vec![piece("stderr", Role::Failed)]));
        lines.extend(of(stderr, Role::Failed));
    }
    lines
}
