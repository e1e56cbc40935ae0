//! Decides everything about questions: which are open, who may answer, when it is too late.
//!
//! Pure: it takes what happens and the present moment, and returns what goes on record. It waits for no
//! one and reads no clock; the driver does what it decides.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, AnswerValue, Given, Principal, Settled};
use super::view::{Asking, Comment, Question, QuestionId};
use crate::clock::Moment;
use crate::envelope::{Actor, mask};
use crate::process::ConsoleProcess;

/// Settled questions that are remembered, so that a late answer learns how they were settled.
const SETTLED_KEPT: usize = 256;
/// Comments kept beside a question.
const COMMENTS: usize = 16;
/// Characters of a comment.
const COMMENT_CHARS: usize = 2_000;

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No question of this recording has this id.
    #[error("no question {0} in this recording")]
    Unknown(QuestionId),
    /// It was settled before.
    #[error("question {id} was {how}")]
    Settled {
        /// The question.
        id: QuestionId,
        /// What came of it, e.g. `answered by operator`.
        how: String,
    },
    /// It is the operator's alone.
    #[error("question {id} is for the operator alone, at a console")]
    OperatorOnly {
        /// The question.
        id: QuestionId,
    },
    /// Whoever runs the program lets no agent answer it.
    #[error("question {id} may not be answered by an agent")]
    NotForAgents {
        /// The question.
        id: QuestionId,
    },
    /// The answer is none to this question, which stays open.
    #[error("the answer to question {id} has to be {expected}")]
    DoesNotFit {
        /// The question.
        id: QuestionId,
        /// What an answer may be.
        expected: String,
    },
}

/// What goes on record about a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(in crate::runtime) enum Fact {
    /// It was asked.
    Asked {
        /// The question.
        question: Arc<Question>,
    },
    /// It was answered.
    Answered {
        /// The question.
        id: QuestionId,
        /// The answer; of a masked text its length.
        answer: Answer,
        /// The console it was given in, when the operator gave it in one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        console: Option<ConsoleProcess>,
    },
    /// Nobody answered in time.
    TimedOut {
        /// The question.
        id: QuestionId,
        /// When.
        at: Timestamp,
    },
    /// Whoever asked does not wait any more.
    Withdrawn {
        /// The question.
        id: QuestionId,
        /// When.
        at: Timestamp,
    },
    /// Somebody said something beside it.
    Commented {
        /// The question.
        id: QuestionId,
        /// What.
        comment: Comment,
    },
    /// The operator lets agents answer it, or not any more.
    Agents {
        /// The question.
        id: QuestionId,
        /// They may.
        may: bool,
    },
}

impl Fact {
    /// Adds the console an answer was given in.
    pub(in crate::runtime) fn given_in(self, console: Option<ConsoleProcess>) -> Self {
        match self {
            Self::Answered { id, answer, .. } => Self::Answered { id, answer, console },
            other => other,
        }
    }
}

/// Who is to be answered once a fact is on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::runtime) enum Told {
    /// Nobody.
    Nobody,
    /// Whoever asked: nothing was asked, as it could not go on record.
    NotAsked,
    /// Whoever asked: this came of it.
    Asker(Settled),
    /// Whoever answered: it could not go on record, the question is open again.
    NotAnswered,
}

/// The questions of a recording.
#[derive(Debug, Default)]
pub(in crate::runtime) struct Machine {
    open: BTreeMap<QuestionId, Entry>,
    settled: VecDeque<(QuestionId, String)>,
    numbers: u32,
}

#[derive(Debug)]
struct Entry {
    question: Arc<Question>,
    due: Option<Duration>,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// On its way to the record; nobody sees it.
    Announced,
    Open,
    /// What came of it is on its way to the record; nobody can change it any more.
    Settling(Settled),
}

impl Machine {
    /// Enters a question. It is open once what this returns is on record.
    pub(in crate::runtime) fn ask(&mut self, now: Moment, id: QuestionId, asking: Asking) -> Fact {
        self.numbers += 1;
        let Asking { origin, asked_by, kind, text, evidence, within, agents, expected } = asking;
        let question = Arc::new(Question {
            id: id.clone(),
            number: self.numbers,
            origin,
            asked_by,
            agents: agents && !kind.is_operators(),
            kind,
            text,
            evidence,
            asked_at: now.wall,
            deadline: within.map(|within| now.wall_after(within)),
            comments: Vec::new(),
            expected,
            place: None,
        });
        let due = within.map(|within| now.mono.saturating_add(within));
        self.open.insert(id, Entry { question: question.clone(), due, state: State::Announced });
        Fact::Asked { question: Arc::new(masked(&question)) }
    }

    /// Takes an answer. It is final once what this returns is on record.
    ///
    /// # Errors
    /// When it is not taken.
    pub(in crate::runtime) fn answer(
        &mut self,
        now: Moment,
        by: &Actor,
        id: &QuestionId,
        given: Given,
    ) -> Result<Fact, Refusal> {
        let entry = self.entry(id)?;
        entry.admit(by)?;
        if !entry.question.kind.accepts(&given.value) || (given.value == AnswerValue::Abort && !is_person(by))
        {
            return Err(Refusal::DoesNotFit { id: id.clone(), expected: entry.question.kind.expected() });
        }
        let Given { value, note } = given;
        let note = note.filter(|note| !note.trim().is_empty()).map(|note| cut(&note));
        let answer = Answer { value, principal: Principal::Actor(by.clone()), at: now.wall, note };
        let recorded = answer.as_recorded(&entry.question.kind);
        entry.state = State::Settling(Settled::Answered(answer));
        Ok(Fact::Answered { id: id.clone(), answer: recorded, console: None })
    }

    /// Puts a remark beside a question.
    ///
    /// # Errors
    /// When it is not open.
    pub(in crate::runtime) fn comment(
        &mut self,
        now: Moment,
        by: &Actor,
        id: &QuestionId,
        text: &str,
    ) -> Result<Fact, Refusal> {
        let entry = self.entry(id)?;
        let comment = Comment { by: by.clone(), at: now.wall, text: cut(text) };
        let comments = &mut Arc::make_mut(&mut entry.question).comments;
        if comments.len() >= COMMENTS {
            comments.remove(0);
        }
        comments.push(comment.clone());
        Ok(Fact::Commented { id: id.clone(), comment })
    }

    /// Lets agents answer a question, or not any more.
    ///
    /// # Errors
    /// When it is not open, or the operator's alone.
    pub(in crate::runtime) fn let_agents(&mut self, id: &QuestionId, may: bool) -> Result<Fact, Refusal> {
        let entry = self.entry(id)?;
        if entry.question.kind.is_operators() {
            return Err(Refusal::OperatorOnly { id: id.clone() });
        }
        Arc::make_mut(&mut entry.question).agents = may;
        Ok(Fact::Agents { id: id.clone(), may })
    }

    /// Takes a question back: whoever asked has gone. An answer on its way to the record stays one.
    pub(in crate::runtime) fn withdraw(&mut self, now: Moment, id: &QuestionId) -> Option<Fact> {
        let is_final = matches!(self.open.get(id)?.state, State::Settling(_));
        if is_final {
            return None;
        }
        self.open.remove(id);
        self.remember(id.clone(), "withdrawn");
        Some(Fact::Withdrawn { id: id.clone(), at: now.wall })
    }

    /// Settles every question whose time is over.
    pub(in crate::runtime) fn due(&mut self, now: Moment) -> Vec<Fact> {
        let late = |entry: &Entry| entry.state == State::Open && entry.due.is_some_and(|due| due <= now.mono);
        let late = self.open.iter_mut().filter(|(_, entry)| late(entry));
        let settle = |(id, entry): (&QuestionId, &mut Entry)| {
            entry.state = State::Settling(Settled::TimedOut { at: now.wall });
            Fact::TimedOut { id: id.clone(), at: now.wall }
        };
        late.map(settle).collect()
    }

    /// Returns when the next question is late.
    pub(in crate::runtime) fn next_due(&self) -> Option<Duration> {
        let open = self.open.values().filter(|entry| entry.state == State::Open);
        open.filter_map(|entry| entry.due).min()
    }

    /// Takes whether the last fact about a question is on record.
    pub(in crate::runtime) fn recorded(&mut self, id: &QuestionId, is_recorded: bool) -> Told {
        let Some(entry) = self.open.get_mut(id) else { return Told::Nobody };
        match (std::mem::replace(&mut entry.state, State::Open), is_recorded) {
            (State::Announced, true) | (State::Open, _) => Told::Nobody,
            (State::Announced, false) => {
                self.open.remove(id);
                Told::NotAsked
            }
            // Without a place on record an answer takes no effect. That time has passed does.
            (State::Settling(Settled::Answered(_)), false) => Told::NotAnswered,
            (State::Settling(settled), _) => {
                self.open.remove(id);
                self.remember(id.clone(), &how(&settled));
                Told::Asker(settled)
            }
        }
    }

    /// Returns the questions that are open, in the order they were asked.
    pub(in crate::runtime) fn questions(&self) -> Vec<Arc<Question>> {
        let open = self.open.values().filter(|entry| entry.state == State::Open);
        let mut questions: Vec<Arc<Question>> = open.map(|entry| entry.question.clone()).collect();
        questions.sort_by_key(|question| question.number);
        questions
    }

    /// Returns the number of a question that is not settled.
    pub(in crate::runtime) fn number(&self, id: &QuestionId) -> Option<u32> {
        self.open.get(id).map(|entry| entry.question.number)
    }

    /// Returns the ids of all questions that are not settled.
    pub(in crate::runtime) fn unsettled(&self) -> Vec<QuestionId> {
        self.open.keys().cloned().collect()
    }

    fn entry(&mut self, id: &QuestionId) -> Result<&mut Entry, Refusal> {
        let past = self.settled.iter().find(|(settled, _)| settled == id).map(|(_, how)| how.clone());
        let refused = |how| Refusal::Settled { id: id.clone(), how };
        match self.open.get_mut(id) {
            Some(entry) => match &entry.state {
                State::Open => Ok(entry),
                State::Settling(settled) => Err(refused(how(settled))),
                State::Announced => Err(Refusal::Unknown(id.clone())),
            },
            None => Err(past.map_or_else(|| Refusal::Unknown(id.clone()), refused)),
        }
    }

    fn remember(&mut self, id: QuestionId, how: &str) {
        if self.settled.len() == SETTLED_KEPT {
            self.settled.pop_front();
        }
        self.settled.push_back((id, how.to_owned()));
    }
}

impl Entry {
    fn admit(&self, by: &Actor) -> Result<(), Refusal> {
        let id = self.question.id.clone();
        match by {
            Actor::Operator => Ok(()),
            _ if self.question.kind.is_operators() => Err(Refusal::OperatorOnly { id }),
            // A command line may be run by anybody, also by a managed task: it may do what agents may.
            _ if !self.question.agents => Err(Refusal::NotForAgents { id }),
            _ => Ok(()),
        }
    }
}

fn is_person(by: &Actor) -> bool {
    *by == Actor::Operator
}

fn how(settled: &Settled) -> String {
    match settled {
        Settled::Answered(answer) => format!("answered by {}", answer.principal),
        Settled::TimedOut { .. } => "not answered in time".to_owned(),
    }
}

fn cut(text: &str) -> String {
    text.trim().chars().take(COMMENT_CHARS).collect()
}

/// Returns a question with the secrets of its texts masked, for the record.
fn masked(question: &Question) -> Question {
    let mut question = question.clone();
    question.text = mask(&question.text).into_owned();
    question.evidence.command = question.evidence.command.map(|command| mask(&command).into_owned());
    question
}
