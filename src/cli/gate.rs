//! `pilothouse prose gate approve|reject`: decides a gate on a terminal, as a console's dialog does. It has the same
//! requirements as a console: the operator's socket, which nothing inside a task may use, and keys typed after the
//! whole text was on the screen.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::ExitCode;

use color_eyre::eyre::Result;
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::termios::{QueueSelector, tcflush};
use serde_json::json;

use super::answer::{self, Form};
use super::program_start::ProgramStart;
use crate::clock::Clock;
use crate::dispatch::{Code, Failure, GateDecided, GateInput, Response, attach_operator, waiting_gates};
use crate::envelope::SafeText;
use crate::link::Act;
use crate::model::{AnswerInput, AnswerValue, Question, READING, Subject};

/// The letters of the confirmation word: none that can be mistaken for another.
const LETTERS: &[u8] = b"abcdefghkmnprstuvwxyz";
/// The length of the confirmation word.
const WORD: usize = 4;

/// Decides a gate.
pub(super) async fn run(
    start: &ProgramStart,
    input: GateInput,
    verdict: AnswerValue,
    form: Form,
) -> Result<ExitCode> {
    let response = match decide(start, &input, verdict).await {
        Ok(decided) => {
            let text = format!("gate {} of {}: {}", decided.gate, decided.run, decided.decision);
            Response::success(json!(decided), text)
        }
        Err(failure) => Response::failure(failure),
    };
    Ok(answer::print(&response, form))
}

async fn decide(
    start: &ProgramStart,
    input: &GateInput,
    verdict: AnswerValue,
) -> Result<GateDecided, Failure> {
    let operator =
        attach_operator(&start.served_places(), start.cwd.clone()).await?.ok_or_else(|| input.absent())?;
    let question = waiting_gates(&operator).into_iter().find(|question| input.means(&question.origin));
    let question = question.ok_or_else(|| input.absent())?;
    let word = if verdict == AnswerValue::Approve { "approve" } else { "reject" };
    let shown = question.clone();
    let asked = tokio::task::spawn_blocking(move || at_terminal(&shown, word)).await;
    let is_meant = asked
        .map_err(|error| Failure::internal(&error))?
        .map_err(|error| no_terminal().detail(error.to_string()))?;
    if !is_meant {
        let message = "That was not the word: nothing was decided.";
        return Err(Failure::new(Code::Precondition, message).fix("run it again, and type the word shown"));
    }
    let given = AnswerInput { value: verdict.clone(), note: input.note.clone() };
    let answer = Act::Answer { cost: 0, given };
    operator.ask(answer.on(Subject::Question(question.id.clone()))).await.map_err(|error| {
        Failure::running(Code::Precondition, format!("The gate was not decided: {error}."))
    })?;
    let decision = if verdict == AnswerValue::Approve { "approved" } else { "rejected" };
    Ok(GateDecided { run: input.run.clone(), gate: input.gate.clone(), decision })
}

fn no_terminal() -> Failure {
    Failure::new(Code::Precondition, "A gate is decided at a terminal, and there is none.")
        .fix("decide it in the console, or run this in your own terminal")
}

/// Shows the complete gate on this process's terminal and waits for the confirmation word shown after it. Blocks.
fn at_terminal(question: &Question, verdict: &str) -> io::Result<bool> {
    let mut tty = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    let word = word()?;
    let place = question.origin.program.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let line = question.origin.lines.map(|lines| format!(", line {}", lines.first)).unwrap_or_default();
    let mut text = format!("{}{line}\n\n{}\n\n", place, question.text.trim_end());
    for value in &question.evidence.bindings {
        let code = value.exit_code.map(|code| format!(" (exit {code})")).unwrap_or_default();
        let more = if value.is_cut { " …" } else { "" };
        text.push_str(&format!("{}{code} = {}{more}\n", value.name, value.preview.trim_end()));
    }
    for comment in &question.comments {
        text.push_str(&format!("{}: {}\n", comment.by, comment.text));
    }
    text.push_str(&format!("\nType {word} and Enter to {verdict}"));
    // What is read is what is decided: nothing in the text may control the terminal or be hidden.
    tty.write_all(SafeText::lines(&text).as_bytes())?;
    // Anything typed before the whole text was on the screen cannot have been a response to it; what follows the
    // colon is.
    tcflush(&tty, QueueSelector::IFlush)?;
    tty.write_all(b": ")?;
    let shown = Clock::start();
    let mut lines = BufReader::new(&tty);
    loop {
        let mut typed = String::new();
        lines.read_line(&mut typed)?;
        if shown.now().mono >= READING || typed.is_empty() {
            return Ok(typed.trim() == word);
        }
        (&tty).write_all(b"That was typed too soon to have been read. Type it again: ")?;
    }
}

fn word() -> io::Result<String> {
    let mut random = [0; WORD];
    getrandom(&mut random, GetRandomFlags::empty())?;
    Ok(random.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_for_a_gate_is_drawn_at_random() {
        let words: std::collections::HashSet<String> = (0..8).map(|_| word().expect("random")).collect();
        assert!(words.len() > 4 && words.iter().all(|word| word.len() == WORD), "{words:?}");
    }
}
