//! What the actions of a screen and of its task do: which feature takes each.

use crate::console::app::App;
use crate::console::app::draw::photo;
use crate::console::app::layer::Layer;
use crate::console::effect::{Effect, FeatureReply};
use crate::console::features::approval::card::Card;
use crate::console::features::approval::decide;
use crate::console::features::pane::fit;
use crate::console::features::question::permission;
use crate::console::features::stop::restart::again;
use crate::console::features::task_list::choose;
use crate::console::features::{changes, cost, export, help, palette, places, receipts, tilings, undo};
use crate::console::keys::{Action, KeyContext, Motion};
use crate::console::state::{Anchor, Column, ExportKind, Mode, Prompt, Screen, ShareForm, Shot, takes_input};
use crate::link::Act;
use crate::model::phrases::NO_HELD_CALL;
use crate::model::{TaskStatus, TaskView};

/// How far a key pans, in columns.
const PAN_COLUMNS: i16 = 16;

impl App {
    /// Moves whatever the keys move on this screen: the selection, a text, or the pane's position in the log.
    pub(in crate::console) fn go(&mut self, motion: Motion) {
        if self.state.reader.is_some() {
            self.state.go_in_reader(motion);
            return;
        }
        match (self.state.focus.screen, self.state.calls.column) {
            (Screen::Tasks, _)
                if self.state.focus.in_pane || matches!(motion, Motion::PageUp | Motion::PageDown) =>
            {
                self.state.go_in_log(motion)
            }
            (Screen::Tasks | Screen::Metrics, _) => self.state.go_in_tasks(motion),
            (Screen::Focus, _) => self.state.go_in_log(motion),
            (Screen::Program, _) if self.state.programs.in_pane => self.state.go_in_log(motion),
            (Screen::Program, _) => {
                self.state.go_in_source(motion);
            }
            (Screen::Receipts, Column::Calls) => self.state.go_in_calls(motion),
            (Screen::Receipts, column) => self.receipts.go_in_text(&self.state, column, motion),
        }
    }

    /// Performs an action in the current context.
    pub(in crate::console) fn act(&mut self, action: Action) {
        if !self.layers.is_empty() {
            return self.act_in_dialog(action);
        }
        match self.availability(action) {
            Ok(()) => self.act_in_view(action),
            Err(why) => self.refuse(action, why),
        }
    }

    pub(in crate::console) fn act_in_view(&mut self, action: Action) {
        if self.state.replay.is_some() && self.state.act_on_replay(action) {
            return;
        }
        if let Some(motion) = action.motion() {
            return self.go(motion);
        }
        use Action::*;
        match action {
            Input if self.state.batch_at_hand().is_some() => {
                let card = self.state.batch_at_hand().map(|batch| Card::of(batch.ticket));
                self.open_card(card);
            }
            Input if self.state.agent_pointed_at().is_some() => {
                self.state.filter_by_pointed();
            }
            ScrollUp => self.state.go_in_log(Motion::Up),
            ScrollDown => self.state.go_in_log(Motion::Down),
            IntoPane => self.state.focus.in_pane = !self.state.focus.in_pane,
            NextFailed | NextWaiting => self.state.go_to_next(action),
            PreviousTask => self.state.step_task(-1),
            NextTask => self.state.step_task(1),
            NextColumn => self.state.cycle_column(1),
            PreviousColumn => self.state.cycle_column(2),
            PanLeft | PanRight => {
                let by = if action == PanLeft { -PAN_COLUMNS } else { PAN_COLUMNS };
                match self.state.focus.screen == Screen::Program && !self.state.programs.in_pane {
                    true => self.state.pan_source(by),
                    false => self.state.pan_pane(by),
                }
            }
            ShowTasks => self.state.show(Screen::Tasks),
            ShowFocus => self.state.show(Screen::Focus),
            ShowReceipts => self.state.show_calls(),
            ShowMetrics => self.state.show(Screen::Metrics),
            Timeline => self.state.division.is_overall = !self.state.division.is_overall,
            ClearFinished => self.state.clear_finished(),
            Undo => self.state.bring_back(),
            Filter if self.state.focus.screen == Screen::Receipts => {
                self.open_list(receipts::rulings::list_of_rulings(&self.state));
            }
            Filter => self.open_list(choose::list_of_filters(&self.state)),
            Changes => match changes::comparisons(&self.state) {
                Ok(list) => self.open_list(list),
                Err(since) => self.state.reply(since.map(changes::ask)),
            },
            Cost => self.state.reply(cost::ask(&self.state)),
            UndoChanges => self.state.reply(undo::ask(&self.state)),
            Timestamps => self.state.toggle_stamps(),
            SearchAll => {
                self.state.focus.mode = Mode::Write(Prompt::SearchAll, self.everywhere.needle.clone().into());
            }
            ArrangeList => self.open_list(choose::arrangement_list(&self.state)),
            Fold if self.state.focus.screen == Screen::Tasks => self.state.fold_list(),
            WidenList => self.state.resize_list(1),
            NarrowList => self.state.resize_list(-1),
            Layouts => self.open_list(tilings::layout_list(&self.state)),
            NextLayout => self.state.next_layout(),
            Zoom => self.state.division.is_zoomed = !self.state.division.is_zoomed,
            Help => {
                let list = help::help(&self.state, &|action| self.availability(action));
                self.open_list(list);
            }
            Back => self.back(),
            Quit => self.ask_to_quit(),
            Palette => self.open_palette(),
            Places => {
                self.open_list(places::list_of_places(&self.state));
                self.state.effects.push(Effect::ListRunning);
            }
            Themes => self.open_list(palette::themes(&self.state)),
            Messages => self.open_list(palette::messages(&self.state)),
            EditSettings => self.run_beside("config edit"),
            Start => {
                let refused = receipts::rulings::refused_command(&self.state);
                self.state.write_command(refused);
            }
            Pause => match decide::pause_or_resume(&self.state) {
                Ok(card) => self.open(Layer::Approval(card)),
                Err(replies) => self.state.reply(replies),
            },
            TellAgent => self.open_tell(None),
            ToAgent => self.go_to_agent(),
            Approvals => self.show_held(),
            Attention => self.open_attention(),
            LeftRunning => self.open_left(),
            WhileAway => {
                let sheet = self.absence.sheet.clone();
                self.layers.extend(sheet.map(|sheet| Layer::Away(Box::new(sheet))));
            }
            ShowProgram => self.state.show(Screen::Program),
            AnswerQuestion => self.answer_program(),
            EndPermissions => {
                let (effects, told) = permission::ends(&self.state.view.snapshot);
                self.state.effects.extend(effects);
                self.state.say(told);
            }
            NextPane => self.state.cycle_pane(),
            PreviousProgram => self.state.step_program(-1),
            NextProgram => self.state.step_program(1),
            Mouse => {
                self.state.outer.has_mouse = !self.state.outer.has_mouse;
                self.state.effects.push(Effect::Mouse(self.state.outer.has_mouse));
            }
            Suspend => self.state.effects.push(Effect::Suspend),
            FindText | NextFound | PreviousFound => self.find_in_text(action),
            Compare => {
                let reply = self.receipts.compare(&self.state);
                self.state.calls.finding.take_if(|_| matches!(reply, Some(FeatureReply::Read(_))));
                self.state.reply(reply);
            }
            ModelSaw => {
                let reply = self.receipts.ask_for_coverage(&self.state);
                self.state.reply(reply);
            }
            Share => self.share(ShareForm::Html),
            ShareSvg => self.share(ShareForm::Svg),
            Fold => self.fold_call(),
            NextPart | PreviousPart => {
                self.state.reader.iter_mut().for_each(|reader| reader.jump(action == NextPart));
            }
            Export => self.open_list(export::export_list(&self.state)),
            ExportMetrics => self.state.effects.extend(export::export(&self.state, ExportKind::Metrics)),
            Screenshot => self.shoot(Shot::Svg),
            ScreenshotHtml => self.shoot(Shot::Html),
            ScreenshotText => self.shoot(Shot::Text),
            ScreenshotAnsi => self.shoot(Shot::Ansi),
            CopyText => self.state.reply(self.receipts.copy_text(&self.state).into_iter().flatten()),
            SmallerBudget | LargerBudget | FullBudget => {
                match self.receipts.next_budget(&self.state, action) {
                    Some(Ok(budget)) => self.state.calls.budget = budget,
                    Some(Err(why)) => self.state.say(why),
                    None => {}
                }
            }
            OpenTask => self.state.open_task(),
            other => self.act_on_task(other),
        }
    }

    fn back(&mut self) {
        self.to_enter = None;
        if self.state.toasts.clear()
            || self.state.thaw()
            || self.state.calls.finding.take().is_some()
            || self.state.reader.take().is_some()
            || self.state.replay.take().is_some()
        {
            return;
        }
        if std::mem::take(&mut self.state.focus.in_pane) {
            return;
        }
        if self.state.focus.screen == Screen::Receipts && self.state.unfilter_calls() {
            return;
        }
        if self.state.unfilter() {
            return;
        }
        if let Some(notice) = self.state.view.snapshot.notices.last()
            && notice.seq > self.state.toasts.notices_seen
        {
            self.state.toasts.notices_seen = notice.seq;
            return;
        }
        if self.state.division.is_zoomed {
            self.state.division.is_zoomed = false;
            return;
        }
        if self.state.focus.screen == Screen::Program && self.state.leave_pane() {
            return;
        }
        if self.state.focus.screen == Screen::Receipts && self.state.calls.column != Column::Calls {
            self.state.calls.column = Column::Calls;
            return;
        }
        if self.state.focus.screen == Screen::Tasks {
            self.state.let_go();
        }
        self.state.show(Screen::Tasks)
    }

    fn find_in_text(&mut self, action: Action) {
        let state = &mut self.state;
        match action {
            // On the tasks screen, this filters the tasks, or searches the output once keys go to the pane.
            Action::FindText if state.view_context() == KeyContext::Tasks => {
                match state.selected_task().cloned() {
                    Some(task) if state.focus.in_pane => state.open_search(task.id.clone()),
                    _ => state.write_task_filter(),
                }
            }
            Action::FindText => {
                // In the list of calls, this filters the calls.
                let is_list = state.reader.is_none() && state.calls.column == Column::Calls;
                state.write(if is_list { Prompt::FilterCalls } else { Prompt::Find });
            }
            _ => self.go_to_found(action == Action::NextFound),
        }
    }

    /// Exports a picture of the screen.
    pub(in crate::console) fn shoot(&mut self, shot: Shot) {
        let drawing = photo(self);
        self.state.effects.push(export::export_screen(&self.state, shot, &drawing));
    }

    /// Shows the call that has waited longest.
    pub(in crate::console) fn show_held(&mut self) {
        let oldest = self.state.view.snapshot.gate.held.first().map(|held| Card::of(held.ticket));
        if oldest.is_none() {
            self.state.say(NO_HELD_CALL);
        }
        self.open_card(oldest);
    }

    pub(in crate::console) fn act_on_task(&mut self, action: Action) {
        let Some(task) = self.state.at_hand().cloned() else { return };
        if !self.state.reaches_target(action) {
            return;
        }
        let id = task.id.clone();
        self.state.hold();
        use Action::*;
        match action {
            Input => match decide::card_of(&self.state, &id) {
                Some(card) => self.open_card(Some(card)),
                None => self.enter(&task),
            },
            SendLine => {
                self.state.thaw();
                self.state.write(Prompt::Line(id));
            }
            Stop => self.open(Layer::Stop { task: id, kill: task.status == TaskStatus::Cancelling }),
            Kill => self.open(Layer::Stop { task: id, kill: true }),
            Signal => self.open(Layer::Signal(id)),
            Pin => self.state.toggle_pin(),
            Rename => {
                let name = task.name.clone().unwrap_or_default();
                self.state.focus.mode = Mode::Write(Prompt::Rename(id), name.into());
            }
            Watch => self.state.write(Prompt::Watch(id)),
            Details => self.open(Layer::Why(id)),
            Replay => self.state.open_replay(id),
            Select => self.state.start_copying(),
            YankOutput => self.state.effects.push(Effect::LastOutput(id)),
            PreviousPrompt => self.state.go_to_prompt(false),
            NextPrompt => self.state.go_to_prompt(true),
            Search => self.state.open_search(id),
            NextMatch => self.find_next_match(false),
            PreviousMatch => self.find_next_match(true),
            Restart if task.status.is_terminal() => self.state.effects.push(again(&task)),
            Restart => self.open(Layer::Restart(id)),
            Release => self.state.effects.push(Effect::Ask(Act::Release.on(id))),
            LetPass => self.state.effects.push(Effect::Ask(Act::LetPass.on(id))),
            Fit => self.state.effects.extend(fit::fit_call(&self.state, &task)),
            Dismiss => self.state.clear_tasks(vec![id]),
            CopyId => {
                self.state.say(format!("copied {id}"));
                self.state.effects.push(Effect::Copy(id.to_string()));
            }
            // Done on a screen, or meant for what lies over one.
            _ => {}
        }
    }

    /// Opens the task full size, or stays on the screen of the program it runs for, and enters input mode if
    /// it takes input.
    fn enter(&mut self, task: &TaskView) {
        let takes_input = takes_input(task) && !self.state.view.is_lost;
        self.entered_from = Some(self.state.focus.screen);
        if self.state.focus.screen == Screen::Program {
            self.state.take_up(task.id.clone());
            if let Err(why) = self.availability(Action::SendLine)
                && !takes_input
            {
                self.state.say(why.to_string());
            }
        } else {
            self.state.focus.screen = Screen::Focus;
        }
        self.state.thaw();
        if takes_input {
            self.state.focus.mode = Mode::Input(task.id.clone());
        } else if task.status == TaskStatus::Queued {
            self.to_enter = Some(task.id.clone());
        }
    }

    /// Enters input mode for a task started here or entered before it ran, once it takes input, unless the user has
    /// moved on to something else.
    pub(in crate::console) fn enter_started(&mut self) {
        let Some(task) = self.to_enter.as_ref().and_then(|id| self.state.view.task(id)).cloned() else {
            return;
        };
        if task.status == TaskStatus::Queued {
            return;
        }
        self.to_enter = None;
        self.own.retain(|id| self.state.view.task(id).is_some());
        let is_listed = matches!(self.state.focus.screen, Screen::Tasks | Screen::Focus);
        let is_free = self.layers.is_empty() && matches!(self.state.focus.mode, Mode::Observe) && is_listed;
        if is_free && takes_input(&task) && self.state.list.selected.as_ref() == Some(&task.id) {
            self.enter(&task);
        }
    }

    /// Goes to the next or previous match, of the search across all tasks or of the one in this task.
    fn find_next_match(&mut self, forward: bool) {
        match self.everywhere.next(&self.state, forward) {
            Some(Ok(at)) => self.go_to_place(at),
            Some(Err(none)) => self.state.say(none),
            None => self.state.find_next(forward),
        }
    }

    /// Shows a result of the search across all tasks.
    pub(in crate::console) fn go_to_place(&mut self, at: usize) {
        let Some(place) = self.everywhere.place(at) else { return };
        if self.state.view.task(&place.task).is_none() {
            return self.state.say("that task is no longer on the list");
        }
        if !matches!(self.state.focus.screen, Screen::Tasks | Screen::Focus) {
            self.state.show(Screen::Tasks);
        }
        self.state.select(place.task.clone());
        self.state.reading.search = Some(self.everywhere.show(at, &place));
        self.state.show_page(place.task, Anchor::Around(place.line));
    }
}
