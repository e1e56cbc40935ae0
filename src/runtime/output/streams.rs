//! Both streams of a command at once, for its answer.

use super::{OutputStream, StoredOutput, blocking};
use crate::envelope::preview::StreamText;
use crate::model::Error;

impl StoredOutput {
    /// Returns standard output and standard error, each as [`StoredOutput::text`] returns it from its beginning.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn both_streams(&self, window_chars: usize) -> Result<(StreamText, StreamText), Error> {
        if self.is_empty() {
            return Ok((StreamText::Whole(String::new()), StreamText::Whole(String::new())));
        }
        let own = self.clone();
        let read = move |stream| own.text_now(stream, 0, window_chars);
        blocking(move || Ok((read(OutputStream::Stdout)?, read(OutputStream::Stderr)?))).await
    }

    /// Tells whether the task has ended without output, so that its log need not be read.
    pub(super) fn is_empty(&self) -> bool {
        self.end == 0 && self.io.is_none()
    }
}
