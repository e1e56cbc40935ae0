//! An agent in its screen: on a PTY of its own, whose output is drawn, so that its queries are answered and what it shows
//! can be read.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::model::TrialProgress;
use crate::agents::ScreenQuestion;
use crate::process::{PtyCommand, PtyProgram};
use crate::terminal::{ByteOrigin, Size, Terminal};

/// The size of its terminal: enough for every agent to draw its questions whole.
const SIZE: (u16, u16) = (120, 40);
/// The longest part of what it shows that is reported, in characters.
const SHOWN: usize = 160;

/// How a trial of an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TrialEnd {
    /// Its model was given the command's result.
    Answered,
    /// It ended before that; the last line it printed.
    Ended(String),
    /// It asks something that only its user may answer; the line.
    Asks(String),
    /// Nothing had happened for so long that it was ended; the last line it printed.
    Unfinished(String),
}

/// Waits for the next step of an agent. Each step that its model sees restarts the time limit.
pub(super) struct TrialWatch {
    progress: watch::Receiver<TrialProgress>,
    patience: Duration,
    until: Instant,
}

impl TrialWatch {
    pub(super) fn new(progress: watch::Receiver<TrialProgress>, patience: Duration) -> Self {
        Self { progress, patience, until: Instant::now() + patience }
    }

    /// Waits until the model was given the result (true), or nothing has happened for too long.
    pub(super) async fn is_answered(&mut self) -> bool {
        loop {
            if matches!(*self.progress.borrow_and_update(), TrialProgress::Answered(_)) {
                return true;
            }
            tokio::select! {
                changed = self.progress.changed() => match changed {
                    Ok(()) => self.until = Instant::now() + self.patience,
                    Err(_) => return false,
                },
                () = sleep_until(self.until) => return false,
            }
        }
    }
}

/// Starts an agent in its screen, and watches it until its model was given the command's result, it ends, or it asks
/// something.
pub(super) async fn watch_screen(
    command: PtyCommand,
    questions: &[ScreenQuestion],
    mut watch: TrialWatch,
) -> TrialEnd {
    let (cols, rows) = SIZE;
    let size = Size::nearest(cols, rows);
    let program = match PtyProgram::start(command, size) {
        Ok(program) => program,
        Err(error) => return TrialEnd::Ended(format!("it does not start: {error}")),
    };
    let mut terminal = Terminal::new(size, ByteOrigin::Tty);
    let mut questions = questions.to_vec();
    let mut bytes = vec![0; 16 << 10];
    let end = loop {
        tokio::select! {
            answered = watch.is_answered() => {
                break if answered { TrialEnd::Answered } else { TrialEnd::Unfinished(last_line(&terminal)) };
            }
            read = program.read(&mut bytes) => match read {
                Ok(0) | Err(_) => break TrialEnd::Ended(last_line(&terminal)),
                Ok(read) => {
                    program.write(&terminal.feed(&bytes[..read]).replies);
                    let shown = terminal.screen_text();
                    let asked = questions.iter().position(|question| shown.contains(question.shows));
                    match asked.map(|at| questions.remove(at)) {
                        Some(ScreenQuestion { shows, keys: None }) => break TrialEnd::Asks(shows.to_owned()),
                        Some(ScreenQuestion { keys: Some(keys), .. }) => program.write(keys.as_bytes()),
                        None => {}
                    }
                }
            },
        }
    };
    program.end().await;
    end
}

/// Returns the last line with words on a screen.
fn last_line(terminal: &Terminal) -> String {
    words_of_last_line(&terminal.screen_text())
}

/// Returns the last line with words in a text.
pub(super) fn words_of_last_line(text: &str) -> String {
    let has_words = |line: &&str| line.chars().filter(|character| character.is_alphanumeric()).count() > 2;
    let line = text.lines().rfind(has_words).unwrap_or("it printed nothing");
    line.trim().chars().filter(|character| !character.is_control()).take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> PtyCommand {
        PtyCommand {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: "/".into(),
        }
    }

    const TRUST: ScreenQuestion = ScreenQuestion { shows: "Do you trust it?", keys: None };

    async fn seen(script: &str, questions: &[ScreenQuestion], patience: Duration) -> TrialEnd {
        let (_progress, told) = watch::channel(TrialProgress::Starting);
        watch_screen(sh(script), questions, TrialWatch::new(told, patience)).await
    }

    #[tokio::test]
    async fn a_question_on_a_screen_is_left_to_its_user_unless_the_answer_changes_nothing() {
        let long = Duration::from_secs(60);
        let asks = seen("printf 'Do you trust it?\\r\\n'; exec sleep 60", &[TRUST], long).await;
        assert_eq!(asks, TrialEnd::Asks("Do you trust it?".to_owned()));
        let once = ScreenQuestion { shows: "this session?", keys: Some("y\r") };
        let script = "printf 'Trust for this session? '; read -r said; echo \"said $said\"";
        assert_eq!(seen(script, &[once, TRUST], long).await, TrialEnd::Ended("said y".to_owned()));
    }

    #[tokio::test]
    async fn a_screen_where_nothing_happens_is_unfinished_and_what_it_shows_is_kept() {
        let end = seen("echo still loading; exec sleep 60", &[], Duration::from_millis(500)).await;
        assert!(
            matches!(&end, TrialEnd::Unfinished(last) if last == "still loading" || last.contains("nothing"))
        );
    }

    #[tokio::test]
    async fn a_screen_whose_model_was_given_the_result_is_over() {
        let (progress, told) = watch::channel(TrialProgress::Told);
        progress.send_replace(TrialProgress::Answered("given".to_owned()));
        let watch = TrialWatch::new(told, Duration::from_secs(60));
        assert_eq!(watch_screen(sh("exec sleep 60"), &[], watch).await, TrialEnd::Answered);
    }
}
