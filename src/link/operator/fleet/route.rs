//! Routes each request to the place of the task, call, question or agent that it concerns; requests that concern none
//! go to the place that the person chose. A place that is not attached refuses, and requests are never retried.

use std::sync::Arc;

use serde_json::Value;

use super::Fleet;
use super::place::FleetPlace;
use super::state::FleetState;
use super::translate::{self, Translation};
use crate::envelope::TaskId;
use crate::link::Error;
use crate::link::operator::connection::RuntimeConnection;
use crate::link::protocol::{Reply, Request};
use crate::model::{ChangesSince, PlaceId, PlaceLink, Slot, UndoRequest};
use crate::runtime::TaskUsage;

/// The place that a request is sent to.
pub(super) struct RequestTarget {
    operator: RuntimeConnection,
    translation: Translation,
}

impl Fleet {
    /// Sends a request to the place it concerns; if it concerns none, to `place`, or to the only place there is.
    ///
    /// # Errors
    /// If there is no such place, the place is not attached or refuses, or its link breaks meanwhile.
    pub(super) async fn send(&self, place: Option<&PlaceId>, request: Request) -> Result<Reply, Error> {
        match request {
            Request::Usage { tasks, listed } => {
                let mut usage: Vec<TaskUsage> = Vec::new();
                for (operator, tasks) in self.by_place(tasks) {
                    // A place that is lost meanwhile contributes nothing.
                    let request = Request::Usage { tasks, listed: listed.clone() };
                    if let Ok(Reply::Usage(more)) = operator.ask_at(None, request).await {
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

    /// Groups tasks by their places.
    fn by_place(&self, tasks: Vec<TaskId>) -> Vec<(RuntimeConnection, Vec<TaskId>)> {
        let state = self.inner.state();
        let attached = state.places.iter().filter_map(|place| Some((place.slot(), place.operator.clone()?)));
        let its = |slot| {
            let is_its = |task: &&TaskId| state.owners.tasks.get(task) == Some(&slot);
            tasks.iter().filter(is_its).cloned().collect::<Vec<_>>()
        };
        attached.map(|(slot, operator)| (operator, its(slot))).filter(|(_, its)| !its.is_empty()).collect()
    }

    /// Pauses or resumes the agents of every place where this changes anything. Places where it fails are named in
    /// the error and do not affect the others.
    async fn pause_all(&self, paused: bool) -> Result<Reply, Error> {
        let request = Request::Pause { paused, nonce: None };
        let targets: Vec<Result<RequestTarget, Error>> = {
            let state = self.inner.state();
            let differs = |place: &&FleetPlace| {
                let is_gone = matches!(place.link, PlaceLink::Gone { .. });
                !is_gone && place.snapshot.gate.paused.is_some() != paused
            };
            state.places.iter().filter(differs).map(FleetPlace::target).collect()
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

impl RequestTarget {
    /// Sends the request, and returns the reply translated for the merged view.
    async fn ask(self, request: Request) -> Result<Reply, Error> {
        let Self { operator, translation } = self;
        let is_input = matches!(request, Request::Send { .. });
        let reply = operator.ask_at(None, request).await.map_err(|error| match error {
            Error::Gone | Error::Talk(_) => unknown(&translation.name.name, is_input),
            error => error,
        })?;
        Ok(match reply {
            Reply::Answer(mut answer) => {
                answer.seq = translation.slot.number(answer.seq).unwrap_or(0);
                Reply::Answer(answer)
            }
            Reply::Record(record) => {
                Reply::Record(record.and_then(|record| translation.record(&record)).map(Arc::new))
            }
            reply => reply,
        })
    }
}

impl FleetPlace {
    /// Returns the target for requests to this place.
    ///
    /// # Errors
    /// If the place is not attached, with the reason.
    pub(super) fn target(&self) -> Result<RequestTarget, Error> {
        match self.operator.as_ref().filter(|_| self.link.is_live()) {
            Some(operator) => {
                Ok(RequestTarget { operator: operator.clone(), translation: self.translation.clone() })
            }
            None => {
                let why = self.link.refusal().unwrap_or_else(|| "not attached".to_owned());
                Err(declined(format!("{} is {why}", self.translation.name.name)))
            }
        }
    }
}

impl FleetState {
    fn target(
        &self,
        chosen: Option<&PlaceId>,
        mut request: Request,
    ) -> Result<(RequestTarget, Request), Error> {
        let place = self.route(chosen, &mut request)?;
        Ok((place.target()?, request))
    }

    /// Finds the place that a request concerns, and translates the request to that place's own numbers and names.
    ///
    /// # Errors
    /// If no place has what the request concerns, or none was chosen.
    pub(super) fn route(
        &self,
        chosen: Option<&PlaceId>,
        request: &mut Request,
    ) -> Result<&FleetPlace, Error> {
        Ok(match request {
            Request::Send { task, .. }
            | Request::Release { task }
            | Request::LetPass { task }
            | Request::Dismiss { task }
            | Request::Rename { task, .. }
            | Request::Command { task }
            | Request::Log { task, .. }
            | Request::Undo(UndoRequest { task, .. })
            | Request::Cost { task }
            | Request::Changes { since: ChangesSince::Task(task) }
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
            Request::Tell { agent, .. } | Request::Changes { since: ChangesSince::Agent(agent) } => {
                let (name, label) = translate::parted(agent).unwrap_or(("", agent));
                let place = self.places.iter().find(|place| place.translation.name.name == name);
                let place = place.ok_or_else(|| declined(format!("no place has an agent {agent}")))?;
                *agent = label.to_owned();
                place
            }
            // Ends only the runtime that the console was opened on, never another one along with it.
            Request::Shutdown { .. } => {
                self.place(Slot::default()).map_or_else(|| self.chosen(chosen), Ok)?
            }
            Request::Call { .. }
            | Request::Pause { .. }
            | Request::EndPermissions
            | Request::Rules { .. }
            | Request::Metrics
            | Request::Standing
            | Request::Holder { .. }
            | Request::Program(_)
            | Request::Usage { .. } => self.chosen(chosen)?,
        })
    }

    fn owner(&self, slot: Option<&Slot>, what: &str) -> Result<&FleetPlace, Error> {
        let place = slot.and_then(|slot| self.place(*slot));
        place.ok_or_else(|| declined(format!("no place has {what} any more")))
    }

    /// Finds the place of a number, and replaces the number by that place's own.
    fn numbered(&self, number: &mut u64, what: &str) -> Result<&FleetPlace, Error> {
        let (slot, own) = Slot::of(*number);
        *number = own;
        self.place(slot).ok_or_else(|| declined(format!("the place of this {what} is gone")))
    }

    fn chosen(&self, place: Option<&PlaceId>) -> Result<&FleetPlace, Error> {
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

/// Returns the error for a request that was in progress when its link broke.
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
