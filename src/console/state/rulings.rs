//! Who let a call of an agent be made, or did not: the person, the agent's own rules or mode, or ours. Pure.

use crate::console::state::calls::RulingFilter;
use crate::console::state::view::View;
use crate::console::text::visible;
use crate::envelope::Actor;
use crate::model::calls::SHELL_CALL;
use crate::model::{CallRuling, CallSummary, TaskFact};

/// Tells whether a call matches a filter by who let it be made.
pub(in crate::console) fn is_listed(filter: RulingFilter, view: &View, call: &CallSummary) -> bool {
    let ruling = || decision(view, call).map(|(by, _)| by);
    match filter {
        RulingFilter::All => true,
        RulingFilter::Unasked => {
            matches!(ruling(), Some(Decider::Agent | Decider::OurRules | Decider::Refused))
        }
        RulingFilter::Refused => ruling() == Some(Decider::Refused),
        RulingFilter::Asked => ruling() == Some(Decider::Person),
    }
}

/// Who let a call be made, or did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decider {
    Person,
    /// The agent's own rules, or its mode.
    Agent,
    /// The agent, which refused it.
    Refused,
    /// No rule of ours held it.
    OurRules,
}

/// Says who let a call be made, or did not; nothing if that is not known.
pub(in crate::console) fn ruling(view: &View, call: &CallSummary) -> Option<String> {
    decision(view, call).map(|(_, words)| words)
}

fn decision(view: &View, call: &CallSummary) -> Option<(Decider, String)> {
    if !matches!(call.actor, Actor::Agent(_))
        || view.snapshot.gate.held.iter().any(|held| held.call == call.seq)
    {
        return None;
    }
    let task = call.task.as_ref().and_then(|id| view.task(id));
    let facts = task.map(|task| &task.events).into_iter().flatten().map(|event| &event.fact);
    for fact in facts {
        match fact {
            TaskFact::Approved(_) => return Some((Decider::Person, "you approved it".to_owned())),
            TaskFact::Denied(_) => return Some((Decider::Person, "you denied it".to_owned())),
            _ => {}
        }
    }
    let mode = |mode: &str| match mode {
        "" | "default" => "its own rules".to_owned(),
        mode => format!("its mode {}", visible::one_line(mode)),
    };
    match call.native.as_ref().and_then(|native| native.ruling.as_ref()) {
        Some(CallRuling::AtConsole) => Some((Decider::Person, "you allowed it here".to_owned())),
        Some(CallRuling::InAgent) => Some((Decider::Person, "you allowed it in the agent".to_owned())),
        Some(CallRuling::Unasked(by)) => Some((Decider::Agent, format!("nobody was asked: {}", mode(by)))),
        Some(CallRuling::Refused { mode: by, .. }) => {
            Some((Decider::Refused, format!("nobody was asked: refused by {}", mode(by))))
        }
        // Of its own shell, only the agent knows.
        None if call.tool != SHELL_CALL && task.is_some_and(|task| task.earlier_events == 0) => {
            Some((Decider::OurRules, "nobody was asked: no rule of yours holds it".to_owned()))
        }
        None => None,
    }
}
