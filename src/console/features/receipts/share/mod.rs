//! Sharing a call: asks for what the answer showed of the output, and writes the page once that is known.

mod contents;
mod html;
mod picture;

use std::sync::Arc;

use crate::console::effect::Effect;
use crate::console::features::receipts::Receipts;
use crate::console::features::receipts::coverage::covered_commands;
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
    pub(in crate::console) fn share(&mut self, state: &State, form: ShareForm) -> Option<Effect> {
        let record = state.shown_record()?;
        let task = state.shown_call().and_then(|call| call.task.clone());
        Some(match covered_commands(&record, task.as_ref(), &state.view.snapshot.tasks) {
            Ok(shown) => {
                let call = record.seq;
                self.sharing = Some(PendingShare { record, form });
                Effect::Coverage { call, shown }
            }
            Err(why) => page(state, &record, form, Err(why)),
        })
    }

    /// Takes what an answer showed of the output, if that call is being shared.
    pub(in crate::console) fn share_with(
        &mut self,
        state: &State,
        call: u64,
        commands: &[CommandCoverage],
    ) -> Option<Effect> {
        let PendingShare { record, form } = self.sharing.take_if(|sharing| sharing.record.seq == call)?;
        Some(page(state, &record, form, Ok(CoveredLines::with_masking(commands))))
    }
}

fn page(state: &State, record: &CallRecord, form: ShareForm, seen: Result<CoveredLines, &str>) -> Effect {
    let call = SharedCall::of(state, record, seen);
    let palette = state.setup.theme_set.paper();
    let text = match form {
        ShareForm::Html => html::document(&call, &palette),
        ShareForm::Svg => picture::drawing(&call).svg(&call.title, &palette),
    };
    let file = FileName::of(&state.call_file(record.seq), form.extension());
    Effect::WriteFile { file, text }
}
