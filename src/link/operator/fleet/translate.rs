//! Translates a place's snapshot for the merged view: its numbers get its slot, its agents its name. Ids of tasks,
//! questions and programs are random and remain unchanged. Pure.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::Arc;

use crate::envelope::Actor;
use crate::model::{
    AgentView, CallRecord, CallSummary, HeldCall, PlaceName, ProgramView, Question, Slot, TaskView,
};

/// How a place's numbers and names are translated.
#[derive(Debug, Clone)]
pub(super) struct Translation {
    pub(super) slot: Slot,
    pub(super) name: Arc<PlaceName>,
    /// The folder that logs are copied to, for a place on another machine: folders it reports are never opened here.
    pub(super) copies: Option<PathBuf>,
}

/// The separator between a place's name and its own labels. Place names never contain it.
const BETWEEN: char = '/';

impl Translation {
    /// Returns an agent's label in the merged view.
    pub(super) fn label(&self, own: &str) -> String {
        format!("{}{BETWEEN}{own}", self.name.name)
    }

    pub(super) fn actor(&self, own: &Actor) -> Actor {
        match own {
            Actor::Agent(label) => Actor::Agent(self.label(label)),
            Actor::Cli | Actor::Operator | Actor::System => own.clone(),
        }
    }

    /// Translates a task; `None` if it has numbers that no runtime would assign.
    pub(super) fn task(&self, own: &TaskView) -> Option<TaskView> {
        let mut task = own.clone();
        task.call = self.slot.number(own.call)?;
        task.started_by = self.actor(&own.started_by);
        if let Some(lease) = &mut task.lease {
            lease.holder = self.actor(&lease.holder);
        }
        if let Some(stop) = &mut task.stop {
            stop.by = self.actor(&stop.by);
        }
        if let Some(ended) = &mut task.ended {
            ended.signalled_by = ended.signalled_by.as_ref().map(|by| self.actor(by));
        }
        for event in &mut task.events {
            event.actor = self.actor(&event.actor);
        }
        if let Some(copies) = &self.copies {
            task.folder = copies.join(self.slot.0.to_string()).join(own.id.as_str());
        }
        task.place = Some(Arc::clone(&self.name));
        Some(task)
    }

    pub(super) fn call(&self, own: &CallSummary) -> Option<CallSummary> {
        Some(CallSummary { seq: self.slot.number(own.seq)?, actor: self.actor(&own.actor), ..own.clone() })
    }

    pub(super) fn record(&self, own: &CallRecord) -> Option<CallRecord> {
        Some(CallRecord { seq: self.slot.number(own.seq)?, actor: self.actor(&own.actor), ..own.clone() })
    }

    pub(super) fn question(&self, own: &Question) -> Option<Question> {
        let mut question = own.clone();
        question.asked_by = self.actor(&own.asked_by);
        for comment in &mut question.comments {
            comment.by = self.actor(&comment.by);
        }
        question.place = Some(Arc::clone(&self.name));
        Some(question)
    }

    pub(super) fn program(&self, own: &ProgramView) -> Option<ProgramView> {
        let call = match own.call {
            Some(call) => Some(self.slot.number(call)?),
            None => None,
        };
        Some(ProgramView { call, started_by: self.actor(&own.started_by), ..own.clone() })
    }

    pub(super) fn held_call(&self, own: &HeldCall) -> Option<HeldCall> {
        Some(HeldCall {
            ticket: self.slot.number(own.ticket)?,
            call: self.slot.number(own.call)?,
            actor: self.actor(&own.actor),
            behind: own.behind.as_ref().map(|behind| self.actor(behind)),
            ..own.clone()
        })
    }

    pub(super) fn agent(&self, own: &AgentView) -> AgentView {
        AgentView { label: self.label(&own.label), ..own.clone() }
    }
}

/// Splits an agent's label into the name of its place and its label there.
pub(super) fn split_label(label: &str) -> Option<(&str, &str)> {
    label.split_once(BETWEEN)
}

/// A cache of translations, so that unchanged items are not translated again.
#[derive(Debug)]
pub(super) struct TranslationCache<K, T> {
    made: HashMap<K, (Arc<T>, Arc<T>)>,
}

impl<K, T> Default for TranslationCache<K, T> {
    fn default() -> Self {
        Self { made: HashMap::new() }
    }
}

impl<K: Eq + Hash, T> TranslationCache<K, T> {
    /// Translates a list; of two items with the same key, the first is used. Entries that are no longer in the list
    /// are dropped.
    pub(super) fn translate(
        &mut self,
        items: &[Arc<T>],
        key: impl Fn(&T) -> K,
        make: impl Fn(&T) -> Option<T>,
    ) -> Vec<Arc<T>> {
        let mut before = std::mem::take(&mut self.made);
        let mut translated = Vec::with_capacity(items.len());
        for item in items {
            let key = key(item);
            if self.made.contains_key(&key) {
                continue;
            }
            let known = before.remove(&key).filter(|(own, _)| Arc::ptr_eq(own, item));
            let Some(made) = known.map(|(_, made)| made).or_else(|| make(item).map(Arc::new)) else {
                continue;
            };
            translated.push(Arc::clone(&made));
            self.made.insert(key, (Arc::clone(item), made));
        }
        translated
    }
}
