//! Dialogs over the screen: which one receives the keys, and what follows from them.

use std::sync::Arc;

use jiff::Timestamp;

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::effect::FeatureReply;
use crate::console::features::approval::card::Card;
use crate::console::features::approval::decide;
use crate::console::features::attention::item::AttentionSubject;
use crate::console::features::attention::left::{LeftDialog, LeftOutcome};
use crate::console::features::attention::list::AttentionSelection;
use crate::console::features::message::MessageDialog;
use crate::console::features::question::QuestionDialog;
use crate::console::keys::{Action, KeyContext, QuitDialogAction, StopDialogAction};
use crate::console::state::{Breakpoint, Mode, Screen, questions, signal, stop_of};
use crate::console::text::visible;
use crate::console::widgets::{CardReading, Chooser, ListKind};
use crate::envelope::TaskId;
use crate::model::{HeldCall, Question, QuestionId};

impl App {
    /// Opens the attention list.
    pub(in crate::console) fn open_attention(&mut self) {
        let chosen = AttentionSelection::of(&self.attention.listed_items(&self.state), 0);
        self.open(Layer::Attention(chosen))
    }

    /// Returns the task on the row of the attention list, if it is typed into when it is chosen.
    pub fn listed_task(&self) -> Option<TaskId> {
        match self.layers.last() {
            Some(Layer::Attention(chosen)) => chosen.task().cloned(),
            _ => None,
        }
    }

    /// Handles a key in the attention list.
    fn attend(&mut self, chosen: &AttentionSelection, action: Action) {
        let items = self.attention.listed_items(&self.state);
        match chosen.after(&items, action) {
            Ok(chosen) => self.open(Layer::Attention(chosen)),
            Err(subject) => self.resolve(subject),
        }
    }

    fn resolve(&mut self, subject: AttentionSubject) {
        match subject {
            AttentionSubject::Question(id) | AttentionSubject::AgentPrompt(id) => {
                if let Some(question) = self.state.view.question(&id).cloned() {
                    self.open_question(question);
                }
            }
            AttentionSubject::Input(id) => {
                self.state.select(id);
                self.act(Action::Input)
            }
            AttentionSubject::Held(ticket) => self.open(Layer::Approval(Card::of(ticket))),
            AttentionSubject::Watched(id, task) => {
                self.attention.watching.settle(&id);
                self.state.select(task);
                self.state.show(Screen::Focus);
                self.ring()
            }
            AttentionSubject::Left(departure) => self.open(Layer::Left(LeftDialog::of(departure))),
            AttentionSubject::Prompt(id) | AttentionSubject::Capped(id) | AttentionSubject::Orphans(id) => {
                self.state.select(id);
                self.state.show(Screen::Focus)
            }
        }
    }

    pub(in crate::console) fn act_in_dialog(&mut self, action: Action) {
        if action == Action::ToAgent && self.can(action) {
            return self.go_to_agent();
        }
        let Some(layer) = self.layers.pop() else { return };
        if action == Action::Back && !(matches!(layer, Layer::Quit) && self.stopping.question.is_some()) {
            return;
        }
        match layer {
            Layer::Stop { task, kill } => match StopDialogAction::of(action) {
                Some(action) => self.stop(task, kill, action),
                None => self.keep_open(Layer::Stop { task, kill }, action),
            },
            Layer::Restart(task) if action == Action::Restart => {
                self.state.effects.push(self.stopping.restart(task, self.state.clock.now));
            }
            Layer::Signal(task) => match signal(&task, action) {
                Some(effect) => self.state.effects.push(effect),
                None => self.keep_open(Layer::Signal(task), action),
            },
            Layer::Quit => match QuitDialogAction::of(action) {
                Some(action) if self.stopping.question.is_some() => self.answer_stop_question(action),
                Some(action) => self.quit(action),
                None => self.keep_open(Layer::Quit, action),
            },
            Layer::Paste(paste) if action == Action::Confirm => self.state.effects.push(paste.send()),
            Layer::Undo(mut card) => {
                let reply = card.act(&self.state, action);
                if !matches!(reply, Some(FeatureReply::Do(_))) {
                    self.open(Layer::Undo(card));
                }
                self.state.reply(reply);
            }
            // Keys of a list never get here, because letters are typed into it.
            Layer::Restart(_)
            | Layer::Paste(_)
            | Layer::Why(_)
            | Layer::List(_)
            | Layer::Tell(_)
            | Layer::Away(_) => self.keep_open(layer, action),
            Layer::Approval(card) => self.act_on_card(card, action),
            Layer::Question(mut dialog) => {
                self.state.reply(dialog.act(&self.state, action));
                self.open(Layer::Question(dialog))
            }
            Layer::Attention(chosen) => self.attend(&chosen, action),
            Layer::Left(mut dialog) => match dialog.act(&self.state.view.snapshot, action) {
                LeftOutcome::Open(replies) => {
                    self.state.reply(replies);
                    self.open(Layer::Left(dialog))
                }
                LeftOutcome::Ended(replies) => self.state.reply(replies),
                LeftOutcome::Kept(departure) => self.attention.kept.push(departure),
                LeftOutcome::Look(task) => {
                    self.state.select(task);
                    self.state.show(Screen::Focus)
                }
            },
        }
    }

    /// Opens what the agent that went last left running.
    pub(in crate::console) fn open_left(&mut self) {
        let departure = self.attention.departure(&self.state);
        self.layers.extend(departure.map(|departure| Layer::Left(LeftDialog::of(departure))));
    }

    /// Leaves a dialog open after a key that means nothing in it.
    fn keep_open(&mut self, layer: Layer, action: Action) {
        self.state.decline(format!("{}: nothing to do with it here", action.name()));
        self.open(layer)
    }

    /// Marks the state as drawn, and the terminal as having it.
    pub fn mark_drawn(&mut self) {
        self.mark_sent();
        self.mark_taken();
    }

    /// Marks the state as drawn; the terminal may not have it yet.
    pub(in crate::console) fn mark_sent(&mut self) {
        self.state.is_dirty = false;
        self.state.key_target.mark_sent();
        self.sent_dialog = self.unseen_dialog();
    }

    /// Records that the terminal has what was drawn last. A dialog in it that has not changed since can be answered a
    /// moment later; one that is longer than the screen, once its last row was on it.
    pub(in crate::console) fn mark_taken(&mut self) {
        self.state.key_target.mark_taken(self.state.clock.now);
        let sent = self.sent_dialog.take();
        if let Some((_, is_at_end)) = sent.filter(|sent| self.unseen_dialog().as_ref() == Some(sent)) {
            let now = self.state.clock.now;
            self.shown_at().into_iter().for_each(|shown_at| *shown_at = shown_at.or(Some(now)));
            self.reading().into_iter().for_each(|reading| reading.is_read |= is_at_end);
        }
    }

    /// Returns what the topmost dialog says, and whether its last row is on screen; none if all of it has been on screen.
    fn unseen_dialog(&mut self) -> Option<(String, bool)> {
        let is_shown = self.shown_at().is_none_or(|shown_at| shown_at.is_some());
        if is_shown && self.reading().is_none_or(|reading| reading.is_read) {
            return None;
        }
        let (size, state) = (self.state.outer.size, &self.state);
        Some(match self.layers.last()? {
            Layer::Question(dialog) => {
                let shown = format!("{} {} {:?} {size:?}", dialog.question.id, dialog.cost(), dialog.reading);
                (shown, dialog.is_at_end(state))
            }
            Layer::Approval(card) => (format!("{card:?} {size:?}"), card.is_at_end(state)),
            Layer::Undo(card) => (format!("{card:?} {size:?}"), card.is_at_end(state)),
            layer => (format!("{layer:?}{:?}", self.stopping.question), true),
        })
    }

    /// Returns how far the topmost card has been read.
    fn reading(&mut self) -> Option<&mut CardReading> {
        match self.layers.last_mut()? {
            Layer::Question(dialog) => Some(&mut dialog.reading),
            Layer::Approval(card) => Some(&mut card.reading),
            Layer::Undo(card) => Some(&mut card.reading),
            _ => None,
        }
    }

    /// Returns since when the topmost dialog has been on screen, if it needs to be read first.
    fn shown_at(&mut self) -> Option<&mut Option<Timestamp>> {
        match self.layers.last_mut()? {
            Layer::Question(dialog) => Some(&mut dialog.reading.shown_at),
            Layer::Approval(card) => Some(&mut card.reading.shown_at),
            Layer::Undo(card) => Some(&mut card.reading.shown_at),
            Layer::Quit => self.stopping.question.as_mut().map(|question| &mut question.shown_at),
            Layer::List(_)
            | Layer::Tell(_)
            | Layer::Attention(_)
            | Layer::Left(_)
            | Layer::Away(_)
            | Layer::Paste(_)
            | Layer::Stop { .. }
            | Layer::Signal(_)
            | Layer::Restart(_)
            | Layer::Why(_) => None,
        }
    }

    /// Closes dialogs about tasks that have since ended.
    pub(in crate::console) fn close_outdated(&mut self) {
        let ended = |task: &TaskId| self.state.view.task(task).is_none_or(|task| task.status.is_terminal());
        let is_outdated = match self.layers.last() {
            Some(Layer::Stop { task, .. } | Layer::Signal(task) | Layer::Restart(task)) => ended(task),
            Some(Layer::Paste(paste)) => ended(&paste.task),
            Some(Layer::Why(task)) => self.state.view.task(task).is_none(),
            Some(Layer::Quit | Layer::Tell(_)) => self.state.view.is_lost,
            Some(Layer::Approval(_)) => {
                self.state.view.is_lost || self.state.layout().breakpoint == Breakpoint::Sentence
            }
            Some(Layer::List(_) | Layer::Away(_)) => self.state.layout().breakpoint == Breakpoint::Sentence,
            Some(Layer::Left(dialog)) => dialog.tasks(&self.state.view.snapshot).is_empty(),
            Some(Layer::Undo(_)) => self.state.view.is_lost,
            Some(Layer::Question(_) | Layer::Attention(_)) | None => false,
        };
        if is_outdated {
            self.layers.pop();
            self.state.is_dirty = true;
        }
    }
}

impl App {
    /// Returns the context whose key bindings apply now.
    pub fn context(&self) -> KeyContext {
        match (self.layers.last(), &self.state.focus.mode) {
            (Some(Layer::Stop { .. }), _) => KeyContext::Stop,
            (Some(Layer::Signal(_)), _) => KeyContext::Signal,
            (Some(Layer::Restart(_)), _) => KeyContext::Restart,
            (Some(Layer::Quit), _) => KeyContext::Quit,
            (Some(Layer::Question(dialog)), _) => dialog.context(),
            (Some(Layer::Attention(_)), _) => KeyContext::Attention,
            (Some(Layer::Left(_)), _) => KeyContext::Left,
            (Some(Layer::Away(_)), _) => KeyContext::Settled,
            (Some(Layer::List(_)), _) => KeyContext::List,
            (Some(Layer::Paste(..)), _) => KeyContext::Paste,
            (Some(Layer::Undo(_)), _) => KeyContext::Undo,
            (Some(Layer::Tell(_)), _) => KeyContext::Tell,
            (Some(Layer::Approval(card)), _) => card.context(),
            (Some(Layer::Why(_)), _) => KeyContext::Settled,
            (None, Mode::Input(_)) => KeyContext::Input,
            (None, Mode::Copy(_)) => KeyContext::Copy,
            (None, Mode::Write(prompt, _)) => prompt.context(),
            (None, Mode::Observe) => self.state.view_context(),
        }
    }

    pub(in crate::console) fn answer_program(&mut self) {
        let question = self.state.program_question().cloned();
        question.into_iter().for_each(|question| self.open_question(question));
    }

    pub(in crate::console) fn stop(&mut self, task: TaskId, kill: bool, action: StopDialogAction) {
        match action {
            // A dialog opened to kill offers no gentle stop: `s` is taken as a typo and keeps it open.
            StopDialogAction::Stop if kill => {
                self.state.decline("stop: it is being stopped; what is left is to kill it");
                self.open(Layer::Stop { task, kill })
            }
            StopDialogAction::Stop => self.state.effects.push(stop_of(&task, false)),
            StopDialogAction::Kill => self.state.effects.push(stop_of(&task, true)),
            StopDialogAction::Signal => self.open(Layer::Signal(task)),
            StopDialogAction::TellAgent => {
                let task = self.state.view.task(&task).cloned();
                task.into_iter().for_each(|task| {
                    self.open_message(MessageDialog::open_with_stop(&self.state, task, kill));
                });
            }
            StopDialogAction::Back => {}
        }
    }

    /// Opens a question in its dialog.
    pub(in crate::console) fn open_question(&mut self, question: Arc<Question>) {
        self.open(Layer::Question(Box::new(QuestionDialog::new(question))))
    }

    /// Handles the runtime's reply to an answer, accepted or refused.
    pub(in crate::console) fn answer_taken(&mut self, id: &QuestionId, refused: Option<String>) {
        let is_it = |layer: &Layer| matches!(layer, Layer::Question(dialog) if dialog.question.id == *id);
        let at = self.layers.iter().position(is_it);
        if let Some(reason) = refused {
            self.state.toasts.fail(visible::one_line(&reason), None);
            if let Some(Layer::Question(dialog)) = at.and_then(|at| self.layers.get_mut(at)) {
                dialog.is_sent = false;
            }
        } else if let Some(at) = at
            && let Layer::Question(dialog) = self.layers.remove(at)
        {
            self.state.say(format!("{} answered", questions::alias(&dialog.question)));
            self.open_next_prompt(&dialog.question);
        }
    }

    /// Opens the oldest other prompt of an agent at the same place, to be read first.
    fn open_next_prompt(&mut self, answered: &Question) {
        let next = self.state.view.next_prompt(answered).cloned();
        next.into_iter().for_each(|next| self.open_question(next));
    }

    /// Opens the card of a held call, if there is one.
    pub(in crate::console) fn open_card(&mut self, card: Option<Card>) {
        self.layers.extend(card.map(Layer::Approval));
    }

    /// Opens a message to the agent with this label, or to the current one.
    pub(in crate::console) fn open_tell(&mut self, label: Option<String>) {
        self.open_message(MessageDialog::open(&self.state, label));
    }

    fn open_message(&mut self, tell: Option<MessageDialog>) {
        match tell {
            Some(tell) => self.open(Layer::Tell(Box::new(tell))),
            None => self.state.say("no agent is connected that could be told"),
        }
    }

    /// Opens a list to choose from.
    pub(in crate::console) fn open_list(&mut self, list: impl Into<Option<Chooser>>) {
        self.layers.extend(list.into().map(|list| Layer::List(Box::new(list))));
    }

    /// Returns the open list, if it is of this kind.
    pub(in crate::console) fn open_list_of(&mut self, kind: &ListKind) -> Option<&mut Chooser> {
        match self.layers.last_mut() {
            Some(Layer::List(chooser)) if chooser.kind == *kind => Some(chooser),
            _ => None,
        }
    }

    fn act_on_card(&mut self, mut card: Card, action: Action) {
        self.state.reply(card.act(&self.state, action));
        let call = card.call(&self.state).filter(|_| action == Action::TellAgent);
        let told = call.map(decide::told_of);
        self.open(Layer::Approval(card));
        told.into_iter().for_each(|label| self.open_tell(label));
    }

    /// Returns the call shown on the topmost card.
    pub fn held_call(&self) -> Option<&HeldCall> {
        let Some(Layer::Approval(card)) = self.layers.last() else { return None };
        card.call(&self.state)
    }

    /// Updates the topmost card; once it has been answered, the next one follows.
    pub(in crate::console) fn refresh_card(&mut self) {
        while let Some(Layer::Approval(card)) = self.layers.last_mut() {
            let was_over = card.is_over;
            let stays = card.stays(&self.state);
            self.state.is_dirty |= !stays || card.is_over != was_over;
            if stays {
                return;
            }
            let next = card.next(&self.state);
            self.layers.pop();
            let is_over = next.is_none();
            self.open_card(next);
            if is_over {
                return;
            }
        }
    }

    /// Updates the question dialogs.
    pub(in crate::console) fn refresh_questions(&mut self) {
        for layer in &mut self.layers {
            if let Layer::Question(dialog) = layer {
                self.state.is_dirty |= dialog.refresh(&self.state.view.snapshot);
            }
        }
    }
}
