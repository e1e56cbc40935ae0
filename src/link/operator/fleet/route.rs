//! Where what is asked goes: to the place of the task, the call, the question or the agent that it is about; what is
//! about none goes where the person said. A place that is not attached refuses, and nothing is ever asked twice.

use std::sync::Arc;

use serde_json::Value;

use super::place::Place;
use super::translate::{self, Translation};
use super::{Fleet, Operator, State};
use crate::envelope::TaskId;
use crate::link::Error;
use crate::link::protocol::{Reply, Request};
use crate::runtime::{PlaceId, PlaceLink, Slot, TaskUsage};
use crate::tools::Answer;

/// A place that something is asked of.
pub(super) struct Target {
    operator: Operator,
    translation: Translation,
}

impl Fleet {
    /// Asks the place that a request is about; one that is about none, `place`, or the only one there is.
    ///
    /// # Errors
    /// When there is no such place, it is not attached or refuses, or its link breaks meanwhile.
    pub(in crate::link::operator) async fn ask(
        &self,
        place: Option<&PlaceId>,
        request: Request,
    ) -> Result<Reply, Error> {
        match request {
            Request::Usage { tasks } => {
                let mut usage: Vec<TaskUsage> = Vec::new();
                for (operator, tasks) in self.by_place(tasks) {
                    // Of a place that is lost meanwhile nothing is known.
                    if let Ok(Reply::Usage(more)) = Box::pin(operator.ask(Request::Usage { tasks })).await {
                        usage.extend(more);
                    }
                }
                Ok(Reply::Usage(usage))
            }
            Request::Pause { paused, .. } if place.is_none() => self.pause_all(paused).await,
            request => {
                let (target, request) = self.inner.state().target(place, request)?;
                target.ask(request).await
            }
        }
    }

    /// Groups tasks by the place that has them.
    fn by_place(&self, tasks: Vec<TaskId>) -> Vec<(Operator, Vec<TaskId>)> {
        let state = self.inner.state();
        let attached = state.places.iter().filter_map(|place| Some((place.slot(), place.operator.clone()?)));
        let its = |slot| {
            let is_its = |task: &&TaskId| state.owners.tasks.get(task) == Some(&slot);
            tasks.iter().filter(is_its).cloned().collect::<Vec<_>>()
        };
        attached.map(|(slot, operator)| (operator, its(slot))).filter(|(_, its)| !its.is_empty()).collect()
    }

    /// Pauses the agents of every place, or lets them go on, where that changes anything. A place where it cannot be done is
    /// named, and keeps no other from it.
    async fn pause_all(&self, paused: bool) -> Result<Reply, Error> {
        let request = Request::Pause { paused, nonce: None };
        let targets: Vec<Result<Target, Error>> = {
            let state = self.inner.state();
            let differs = |place: &&Place| {
                let is_gone = matches!(place.link, PlaceLink::Gone { .. });
                !is_gone && place.snapshot.gate.paused.is_some() != paused
            };
            state.places.iter().filter(differs).map(|place| place.target(&request)).collect()
        };
        let mut refused = Vec::new();
        for target in targets {
            match target {
                Ok(target) => {
                    let name = target.translation.name.name.clone();
                    let asked = target.ask(request.clone()).await;
                    refused.extend(asked.err().map(|error| format!("{name}: {error}")));
                }
                Err(error) => refused.push(error.to_string()),
            }
        }
        if refused.is_empty() { Ok(Reply::Done) } else { Err(declined(refused.join("; "))) }
    }
}

impl Target {
    /// Asks, and returns the reply as it stands among those of others.
    async fn ask(self, request: Request) -> Result<Reply, Error> {
        let Self { operator, translation } = self;
        let is_input = matches!(request, Request::Send { .. });
        // The future of a hold on holds has no size of its own.
        let reply = Box::pin(operator.ask(request)).await.map_err(|error| match error {
            Error::Gone | Error::Talk(_) => unknown(&translation.name.name, is_input),
            error => error,
        })?;
        Ok(match reply {
            Reply::Answer(answer) => {
                let mut answer: Answer = answer.into();
                answer.seq = translation.slot.number(answer.seq).unwrap_or(0);
                Reply::Answer(answer.into())
            }
            Reply::Record(record) => {
                Reply::Record(record.and_then(|record| translation.record(&record)).map(Arc::new))
            }
            reply => reply,
        })
    }
}

impl Place {
    /// Returns the place to ask that of.
    ///
    /// # Errors
    /// When it is not attached, or only looked at and that is more than a look; with the reason.
    pub(super) fn target(&self, request: &Request) -> Result<Target, Error> {
        let may = |operator: &&Operator| match self.link {
            PlaceLink::Live => true,
            PlaceLink::ReadOnly(_) => operator.answers(request),
            _ => false,
        };
        match self.operator.as_ref().filter(may) {
            Some(operator) => {
                Ok(Target { operator: operator.clone(), translation: self.translation.clone() })
            }
            None => {
                let why = self.link.refusal().unwrap_or_else(|| "not attached".to_owned());
                Err(declined(format!("{} is {why}", self.translation.name.name)))
            }
        }
    }
}

impl State {
    fn target(&self, chosen: Option<&PlaceId>, mut request: Request) -> Result<(Target, Request), Error> {
        let place = self.route(chosen, &mut request)?;
        Ok((place.target(&request)?, request))
    }

    /// Finds out whom a request is about, and says it in that place's own numbers and names.
    ///
    /// # Errors
    /// When no place has what it is about, or none was chosen.
    pub(super) fn route(&self, chosen: Option<&PlaceId>, request: &mut Request) -> Result<&Place, Error> {
        Ok(match request {
            Request::Send { task, .. }
            | Request::Release { task }
            | Request::Dismiss { task }
            | Request::Rename { task, .. }
            | Request::Command { task }
            | Request::Log { task, .. }
            | Request::Streams { task } => self.owner(self.owners.tasks.get(task), task.as_str())?,
            Request::Call { input, .. } if input.get("task_id").is_some() => {
                let task = input.get("task_id").and_then(Value::as_str).unwrap_or_default();
                let id = task.parse().map_err(|_| declined(format!("there is no task {task}")))?;
                self.owner(self.owners.tasks.get(&id), task)?
            }
            Request::Record { seq } => self.numbered(seq, "call")?,
            Request::Decide { ticket, .. } => self.numbered(ticket, "held call")?,
            Request::Answer { question, .. } | Request::LetAgents { question, .. } => {
                self.owner(self.owners.questions.get(question), question.as_str())?
            }
            Request::Tell { agent, .. } => {
                let (name, label) = translate::parted(agent).unwrap_or(("", agent));
                let place = self.places.iter().find(|place| place.translation.name.name == name);
                let place = place.ok_or_else(|| declined(format!("no place has an agent {agent}")))?;
                *agent = label.to_owned();
                place
            }
            // What is ended is the runtime that the console was opened on, never another one by the way.
            Request::Shutdown { .. } => {
                self.place(Slot::default()).map_or_else(|| self.chosen(chosen), Ok)?
            }
            Request::Call { .. }
            | Request::Pause { .. }
            | Request::Rules { .. }
            | Request::Metrics
            | Request::Standing
            | Request::Program(_)
            | Request::Usage { .. } => self.chosen(chosen)?,
        })
    }

    fn owner(&self, slot: Option<&Slot>, what: &str) -> Result<&Place, Error> {
        let place = slot.and_then(|slot| self.place(*slot));
        place.ok_or_else(|| declined(format!("no place has {what} any more")))
    }

    /// Finds the place of a number, and makes it that place's own.
    fn numbered(&self, number: &mut u64, what: &str) -> Result<&Place, Error> {
        let (slot, own) = Slot::of(*number);
        *number = own;
        self.place(slot).ok_or_else(|| declined(format!("the place of this {what} is gone")))
    }

    fn chosen(&self, place: Option<&PlaceId>) -> Result<&Place, Error> {
        match (place, &self.places[..]) {
            (Some(id), places) => places
                .iter()
                .find(|place| place.id() == id)
                .ok_or_else(|| declined("that place is gone".to_owned())),
            (None, [only]) => Ok(only),
            (None, _) => {
                Err(declined("choose a place first: the palette has them under `places`".to_owned()))
            }
        }
    }
}

fn declined(message: String) -> Error {
    Error::Declined { message }
}

/// What is said of something that was under way when a link broke.
fn unknown(place: &str, is_input: bool) -> Error {
    declined(match is_input {
        true => {
            format!("the link to {place} broke: this is not known to have arrived, and is not sent again")
        }
        false => {
            format!("the link to {place} broke: whether it was done is not known, and it is not asked again")
        }
    })
}
