//! Reading the earlier recordings of a workspace, alongside the loop.

use std::path::PathBuf;

use super::effects::Effects;
use crate::console::msg::Msg;
use crate::runtime::past;

/// Maximum number of past recordings listed.
const MOST_RECORDINGS: usize = 50;

impl Effects {
    /// Lists the finished recordings of a workspace, newest first; `own` is the current one.
    pub(in crate::console) fn recordings(&mut self, own: PathBuf, workspace: PathBuf) {
        self.running.spawn_blocking(move || {
            let folder = own.parent()?;
            let listed = past::list(folder, Some(&workspace)).into_iter().rev();
            let over = listed.filter(|listed| !listed.live && listed.folder != own);
            let over = over
                .map(|listed| (listed.name, listed.meta.map(|meta| meta.started_at)))
                .take(MOST_RECORDINGS);
            Some(Msg::Recordings(over.collect()))
        });
    }

    /// Reads the durations of commands from the earlier recordings of a workspace; `own` is the current one.
    pub(in crate::console) fn durations(&mut self, own: PathBuf, workspace: PathBuf) {
        self.running.spawn_blocking(move || {
            let earlier = past::durations(own.parent()?, &workspace, &own);
            (!earlier.is_empty()).then_some(Msg::Durations(earlier))
        });
    }
}
