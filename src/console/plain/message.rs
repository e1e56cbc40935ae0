//! Words to an agent: how they are written, and how they will get there.

use crate::console::msg;
use crate::console::plain::session::{PlainEffect, PlainSession};
use crate::console::plain::steps::reply;
use crate::console::state::delivery::MessageDelivery;
use crate::link::Act;
use crate::model::Subject;

impl PlainSession {
    pub(super) fn tell(&self, rest: &str) -> Vec<PlainEffect> {
        let agents = || self.snapshot.agents.iter();
        let (label, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let is_known = agents().any(|agent| agent.label == label);
        if is_known && !text.trim().is_empty() {
            let (agent, text) = (label.to_owned(), text.trim().to_owned());
            let to = std::slice::from_ref(&agent);
            let said = MessageDelivery::of(&self.snapshot, to, None).confirmation(to);
            return vec![
                reply(said),
                PlainEffect::Do(msg::Effect::Ask(Act::Tell(text).on(Subject::Agent(agent)))),
            ];
        }
        let connected: Vec<_> = agents().filter(|agent| agent.connected).map(|agent| &*agent.label).collect();
        vec![reply(match &connected[..] {
            [] if !is_known => "no agent is connected".to_owned(),
            _ if is_known => {
                let way = MessageDelivery::of(&self.snapshot, &[label.to_owned()], None).promise();
                format!("write the words behind it: tell {label} TEXT. {way}")
            }
            known => format!("name an agent behind it, then the words: {}", known.join(", ")),
        })]
    }
}
