//! Both streams of a command at once, for its answer.

use super::{Output, Stream, blocking};
use crate::envelope::preview::Text;
use crate::model::Error;

impl Output {
    /// Returns standard output and standard error, each as [`Output::text`] returns it from its beginning.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn both(&self, window_chars: usize) -> Result<(Text, Text), Error> {
        if self.is_empty() {
            return Ok((Text::Whole(String::new()), Text::Whole(String::new())));
        }
        let own = self.clone();
        let read = move |stream| own.text_now(stream, 0, window_chars);
        blocking(move || Ok((read(Stream::Stdout)?, read(Stream::Stderr)?))).await
    }

    /// Tells whether the task has ended without output, so that its log need not be read.
    pub(super) fn is_empty(&self) -> bool {
        self.end == 0 && self.io.is_none()
    }
}
