//! Sharing a call: asks for what the answer showed of the output, and writes the page once that is known.

mod contents;
mod html;
mod picture;

use std::sync::Arc;

use crate::console::effect::Effect;
use crate::console::features::receipts::Receipts;
use crate::console::features::receipts::coverage::shown;
use crate::console::features::receipts::covered_lines::CoveredLines;
use crate::console::features::receipts::share::contents::SharedCall;
use crate::console::state::{CommandCoverage, FileName, ShareForm, State};
use crate::model::CallRecord;

/// A call that is shared as soon as the output it showed was read.
#[derive(Debug, Clone)]
pub struct PendingShare {
    record: Arc<CallRecord>,
    form: ShareForm,
}

impl Receipts {
    /// Shares the current call.
    pub(in crate::console) fn share(&mut self, state: &mut State, form: ShareForm) {
        let Some(record) = state.shown_record() else { return };
        let task = state.shown_call().and_then(|call| call.task.clone());
        match shown(&record, task.as_ref(), &state.view.snapshot.tasks) {
            Ok(shown) => {
                state.effects.push(Effect::Coverage { call: record.seq, shown });
                self.sharing = Some(PendingShare { record, form });
            }
            Err(why) => write(state, &record, form, Err(why)),
        }
    }

    /// Takes what an answer showed of the output: for the call that is being shared, or else to be read.
    pub(in crate::console) fn take_coverage(
        &mut self,
        state: &mut State,
        call: u64,
        commands: &[CommandCoverage],
    ) {
        match self.sharing.take_if(|sharing| sharing.record.seq == call) {
            Some(PendingShare { record, form }) => {
                write(state, &record, form, Ok(CoveredLines::masked(commands)))
            }
            None => self.show_coverage(state, call, commands),
        }
    }
}

fn write(state: &mut State, record: &CallRecord, form: ShareForm, seen: Result<CoveredLines, &str>) {
    let call = SharedCall::of(state, record, seen);
    let palette = state.setup.theme_set.paper();
    let text = match form {
        ShareForm::Html => html::page(&call, &palette),
        ShareForm::Svg => picture::drawing(&call).svg(&call.title, &palette),
    };
    let file = FileName::of(&state.call_file(record.seq), form.extension());
    state.effects.push(Effect::WriteFile { file, text });
}
