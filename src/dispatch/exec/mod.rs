//! `exec`: a stream of commands, one JSON object per line, each answered by one line
//! (docs/contract.md#command-lines).
//!
//! Lines are processed one after another, in this process: a line is read, checked, run and answered before the next
//! one is parsed. Nothing on one line changes another, and no line is ever run twice.

mod line;
mod line_options;
mod options;
mod source;
mod tally;
mod watch;

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt};

pub use line::is_path;
pub use line_options::LINE_FLAGS;
pub use options::{Exec, ExecInput, StreamOptions};
pub use source::{Feed, STDIN_BYTES, STDIN_BYTES_VARIABLE, stdin_limit};

use self::line::{ParsedLine, StreamRequest};
use self::tally::Tally;
use self::watch::StreamViewer;
use super::code::Code;
use super::command::{Command, CommandReach};
use super::context::CommandContext;
use super::early_end::cut_short;
use super::registry;
use super::response::{Failure, Response};
use super::run::{accepted_exits, run as run_command};
use crate::clock::{Clock, millis};
use crate::envelope::SafeText;
use crate::process::is_gone;
use crate::tools::CutReason;

/// Parses a line without running it, for the fuzz targets.
#[doc(hidden)]
pub fn fuzz_line(bytes: &[u8]) {
    for number in [1, 2] {
        let _ = line::read(Some(bytes), number).cmd();
    }
}

/// The exit code if the reader of the answers is gone.
pub const OUTPUT_CLOSED: u8 = 141;

/// How a stream ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StreamEnd {
    /// The exit code.
    pub code: u8,
    /// What a person should know, on one line: what was wrong first, if the exit code is 2, and how many lines were
    /// not read.
    pub why: Option<String>,
}

/// Runs the lines of `feed` and writes an answer for each to `out`. If `signal` completes, the stream is ended with
/// the signal number it yields.
///
/// # Errors
/// When an answer cannot be written, except because the reader is gone.
pub async fn run(
    cx: &mut CommandContext,
    options: &StreamOptions,
    feed: &mut Feed,
    out: &mut (impl AsyncWrite + Unpin),
    signal: impl Future<Output = u8>,
) -> io::Result<StreamEnd> {
    let watch = StreamViewer::open(cx, options).await;
    let mut stream =
        CommandStream { cx, options, out, tally: Tally::default(), watch, why: None, unread: None };
    let ended = stream.run(feed, signal).await;
    stream.watch.close().await;
    match ended {
        Err(error) if is_gone(&error) => Ok(StreamEnd { code: OUTPUT_CLOSED, ..StreamEnd::default() }),
        Ok(code) => {
            let why = stream.why.filter(|_| code == Code::DispatchParseError.exit_code());
            let said: Vec<String> = why.into_iter().chain(stream.unread).collect();
            Ok(StreamEnd { code, why: (!said.is_empty()).then(|| said.join(" ")) })
        }
        Err(error) => Err(error),
    }
}

struct CommandStream<'a, W> {
    cx: &'a mut CommandContext,
    options: &'a StreamOptions,
    out: &'a mut W,
    tally: Tally,
    watch: StreamViewer,
    /// What was wrong first.
    why: Option<String>,
    /// How many lines were not read.
    unread: Option<String>,
}

impl<W: AsyncWrite + Unpin> CommandStream<'_, W> {
    async fn run(&mut self, feed: &mut Feed, signal: impl Future<Output = u8>) -> io::Result<u8> {
        tokio::pin!(signal);
        let mut number = 0;
        loop {
            let next = tokio::select! {
                next = feed.next() => next,
                signal = &mut signal => return self.end(cut_short(CutReason::Signal(signal))).await,
            };
            let Some(bytes) = (match next {
                Ok(bytes) => bytes,
                Err(error) => return self.end(broken_off(&error)).await,
            }) else {
                break;
            };
            number += 1;
            let read = line::read(bytes.as_deref(), number);
            if read == ParsedLine::Blank {
                continue;
            }
            let (cmd, well_formed, clock) =
                (read.cmd().map(str::to_owned), read.is_well_formed(), Clock::start());
            self.watch.begin(number, &read).await;
            let mut signalled = None;
            let mut response = self.answer(read, async { *signalled.insert(signal.as_mut().await) }).await;
            response.meta.cmd = cmd;
            response.meta.line = Some(number);
            response.meta.duration_ms = millis(clock.now().mono);
            self.watch.end(&response);
            self.write(&response).await?;
            if let Some(signal) = signalled {
                return Ok(cut_short(CutReason::Signal(signal)).exit_code());
            }
            self.tally.count(well_formed, response.outcome.is_ok());
            if self.tally.has_failed() && !self.goes_on() {
                let rest = tokio::select! {
                    rest = feed.count_rest() => rest.unwrap_or_default(),
                    _ = &mut signal => None,
                };
                self.unread = unread(number, rest);
                break;
            }
        }
        if self.tally.is_empty() {
            return self.end(empty_stream()).await;
        }
        Ok(self.tally.exit_code(self.options.input.validate_only))
    }

    fn goes_on(&self) -> bool {
        self.options.input.ignore_errors || self.options.input.validate_only
    }

    async fn answer(&mut self, read: ParsedLine, signal: impl Future<Output = u8>) -> Response {
        match read {
            ParsedLine::Line(line) => self.dispatch(line, signal).await,
            ParsedLine::Malformed(_, failure) => Response::failure(*failure),
            ParsedLine::Blank => Response::success(Value::Null, String::new()),
        }
    }

    async fn dispatch(&mut self, line: StreamRequest, signal: impl Future<Output = u8>) -> Response {
        let StreamRequest { cmd, opts, mut payload } = line;
        let command = match route(&cmd) {
            Ok(command) => command,
            Err(failure) => return Response::failure(failure),
        };
        let mut flags = self.options.flags.clone();
        let warnings = match line_options::apply(command, opts, &mut payload, &mut flags) {
            Ok(warnings) => warnings,
            Err(failure) => return Response::failure(failure),
        };
        let input = Value::Object(payload);
        let mut response = if self.options.input.validate_only {
            validate(command, input)
        } else {
            run_command(self.cx, command, input, &flags, signal).await
        };
        response.warnings.extend(warnings);
        response
    }

    /// Ends the stream with an answer that belongs to no line.
    async fn end(&mut self, failure: Failure) -> io::Result<u8> {
        let response = Response::failure(failure);
        self.write(&response).await?;
        Ok(response.exit_code())
    }

    async fn write(&mut self, response: &Response) -> io::Result<()> {
        let value =
            if self.options.input.echo_top_level { response.to_echoed() } else { response.to_value() };
        if let (Err(failure), None) = (&response.outcome, &self.why) {
            let line = response.meta.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            self.why = Some(format!("{line}{}", failure.line()));
        }
        let line = format!("{}\n", SafeText::json(&value)?);
        self.out.write_all(line.as_bytes()).await?;
        self.out.flush().await
    }
}

/// Says how many lines a stream has after the one that failed; `rest` is `None` if that cannot be known.
fn unread(failed: u64, rest: Option<u64>) -> Option<String> {
    let rest = match rest {
        Some(0) => return None,
        Some(1) => "1 line after it was".to_owned(),
        Some(rest) => format!("{rest} lines after it were"),
        None => "what may come after it was".to_owned(),
    };
    Some(format!("Line {failed} failed, and {rest} not read; --ignore-errors continues."))
}

/// Finds the command of a line.
fn route(cmd: &str) -> Result<&'static Command, Failure> {
    let unknown = || {
        Failure::new(Code::UnknownCommand, format!("No command has the path {cmd}."))
            .suggest(registry::path_of_tool(cmd).or_else(|| registry::nearest_path(cmd)))
            .fix("`pilothouse manifest` lists all paths under data.commands")
    };
    let command = registry::find(cmd).ok_or_else(unknown)?;
    match command.reach {
        CommandReach::Anywhere => Ok(command),
        CommandReach::Exec => {
            Err(Failure::new(Code::NotDispatchable, format!("{cmd} cannot be a line of itself."))
                .fix("write its lines into this stream"))
        }
        CommandReach::Alone(owns) => {
            Err(Failure::new(Code::NotDispatchable, format!("{cmd} cannot be a line: it owns {owns}."))
                .fix(format!("start `pilothouse {}` by itself", cmd.replace('.', " "))))
        }
    }
}

/// Validates a line without running it.
fn validate(command: &Command, input: Value) -> Response {
    let mut input = input;
    let checked = accepted_exits(command, &mut input).map(drop);
    match checked.and_then(|()| command.check(input).map_err(Failure::from)) {
        Ok(()) => Response::success(json!({ "effect": "would_dispatch" }), String::new()),
        Err(failure) => Response::failure(failure),
    }
}

fn broken_off(error: &io::Error) -> Failure {
    Failure::running(Code::InputFileUnreadable, "The rest of the input cannot be read.")
        .detail(error.to_string())
}

/// Returns the failure of a stream without any line.
fn empty_stream() -> Failure {
    Failure::new(Code::EmptyStream, "The stream contains no lines.")
        .fix(r#"write one JSON object per line, for instance {"_cmd":"task.list"}"#)
}
