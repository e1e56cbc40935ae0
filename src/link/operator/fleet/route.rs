//! Routes each request to the place of the task, call, question or agent that it concerns; requests that concern none
//! go to the place that the person chose. A place that is not attached refuses, and requests are never retried.

use std::sync::Arc;

use super::Fleet;
use super::place::FleetPlace;
use super::state::FleetState;
use super::translate::{self, Translation};
use crate::envelope::TaskId;
use crate::link::Error;
use crate::link::operator::connection::RuntimeConnection;
use crate::link::operator::decline;
use crate::link::protocol::{Act, Reply, Request};
use crate::model::{PlaceId, PlaceLink, Slot, Subject};
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
        let Request { mut subject, act } = request;
        match subject {
            Subject::Tasks(tasks) => {
                let mut usage: Vec<TaskUsage> = Vec::new();
                for (operator, tasks) in self.by_place(tasks) {
                    // A place that is lost meanwhile contributes nothing.
                    let request = act.clone().on(Subject::Tasks(tasks));
                    if let Ok(Reply::Usage(more)) = operator.ask_at(None, request).await {
                        usage.extend(more);
                    }
                }
                Ok(Reply::Usage(usage))
            }
            Subject::Gate if place.is_none() => self.ask_all(act).await,
            _ => {
                let target = self.inner.state().route(place, &mut subject)?.target()?;
                target.ask(act.on(subject)).await
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
    async fn ask_all(&self, act: Act) -> Result<Reply, Error> {
        let targets: Vec<Result<RequestTarget, Error>> = {
            let state = self.inner.state();
            let differs = |place: &&FleetPlace| {
                let is_gone = matches!(place.link, PlaceLink::Gone { .. });
                !is_gone
                    && !matches!(act, Act::Pause(paused) if place.snapshot.gate.paused.is_some() == paused)
            };
            state.places.iter().filter(differs).map(FleetPlace::target).collect()
        };
        let mut refused = Vec::new();
        for target in targets {
            match target {
                Ok(target) => {
                    let name = target.translation.name.name.clone();
                    let asked = target.ask(act.clone().on(Subject::Gate)).await;
                    refused.extend(asked.err().map(|error| format!("{name}: {error}")));
                }
                Err(error) => refused.push(error.to_string()),
            }
        }
        if refused.is_empty() { Ok(Reply::Done) } else { decline(refused.join("; ")) }
    }
}

impl RequestTarget {
    /// Sends the request, and returns the reply translated for the merged view.
    async fn ask(self, request: Request) -> Result<Reply, Error> {
        let Self { operator, translation } = self;
        let is_input = matches!(request.act, Act::Send(_));
        let reply = operator.ask_at(None, request).await.or_else(|error| match error {
            Error::Gone | Error::Talk(_) => decline(unknown(&translation.name.name, is_input)),
            error => Err(error),
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
                decline(format_args!("{} is {why}", self.translation.name.name))
            }
        }
    }
}

impl FleetState {
    /// Finds the place of a subject, and translates the subject to that place's own numbers and names.
    ///
    /// # Errors
    /// If no place has it, or none was chosen.
    pub(super) fn route(
        &self,
        chosen: Option<&PlaceId>,
        subject: &mut Subject,
    ) -> Result<&FleetPlace, Error> {
        match subject {
            Subject::Task(task) => self.owner(self.owners.tasks.get(task), task.as_str()),
            Subject::Question(question) => self.owner(self.owners.questions.get(question), question.as_str()),
            Subject::Call(seq) => self.resolve_number(seq, "call"),
            Subject::Held(ticket) => self.resolve_number(ticket, "held call"),
            Subject::Agent(agent) => {
                let (name, label) = translate::split_label(agent).unwrap_or(("", agent));
                let place = self.places.iter().find(|place| place.translation.name.name == name);
                let Some(place) = place else {
                    return decline(format_args!("no place has an agent {agent}"));
                };
                *agent = label.to_owned();
                Ok(place)
            }
            Subject::Home => self.place(Slot::default()).map_or_else(|| self.chosen_place(chosen), Ok),
            Subject::Runtime | Subject::Gate | Subject::Tasks(_) => self.chosen_place(chosen),
        }
    }

    fn owner(&self, slot: Option<&Slot>, what: &str) -> Result<&FleetPlace, Error> {
        let place = slot.and_then(|slot| self.place(*slot));
        place.map_or_else(|| decline(format_args!("no place has {what} any more")), Ok)
    }

    /// Finds the place of a number, and replaces the number by that place's own.
    fn resolve_number(&self, number: &mut u64, what: &str) -> Result<&FleetPlace, Error> {
        let (slot, own) = Slot::of(*number);
        *number = own;
        self.place(slot).map_or_else(|| decline(format_args!("the place of this {what} is gone")), Ok)
    }

    fn chosen_place(&self, place: Option<&PlaceId>) -> Result<&FleetPlace, Error> {
        match (place, &self.places[..]) {
            (Some(id), places) => {
                let place = places.iter().find(|place| place.id() == id);
                place.map_or_else(|| decline("that place is gone"), Ok)
            }
            (None, [only]) => Ok(only),
            (None, _) => decline("choose a place first: the palette has them under `places`"),
        }
    }
}

/// Returns what is said of a request that was in progress when its link broke.
fn unknown(place: &str, is_input: bool) -> String {
    let what = match is_input {
        true => "this is not known to have arrived, and is not sent again",
        false => "whether it was done is not known, and it is not asked again",
    };
    format!("the link to {place} broke: {what}")
}
