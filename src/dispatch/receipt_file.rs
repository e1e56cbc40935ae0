//! `receipt render` and `receipt compact`: a canonical envelope from a file, as a receipt or shortened.

use std::io;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::code::Code;
use super::command::{Example, LocalCommand};
use super::context::CommandContext;
use super::host::Host;
use super::response::Failure;
use crate::envelope::{Envelope, SafeText, compact, length};
use crate::files::{self, Links};
use crate::tools;

/// The maximum size of a file, in bytes: a batch of twelve items with the largest budgets fits.
const LIMIT_BYTES: u64 = 32 << 20;

pub(super) struct ReceiptRender;
pub(super) struct ReceiptCompact;

/// The envelope, and its maximum length.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvelopeInput {
    /// The file with the canonical envelope as JSON; `-` is standard input.
    file: String,
    /// Compact the envelope to this many characters of JSON first. Mandatory content may need more.
    budget: Option<u64>,
}

/// A receipt.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReceiptRenderOutput {
    /// The text that a model reads.
    #[schemars(with = "String")]
    receipt: SafeText,
    /// Its length in characters.
    chars: usize,
}

/// An envelope in fewer characters.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReceiptCompactOutput {
    /// The envelope.
    envelope: Value,
    /// Its length in characters of JSON.
    chars: usize,
    /// Its previous length in characters of JSON.
    chars_before: usize,
}

impl LocalCommand for ReceiptRender {
    const PATH: &'static str = "receipt.render";
    const ABOUT: &'static str = "Print the receipt of a canonical envelope";
    const EXITS: &'static [u8] = &[5];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "The text that a model would read", input: r#"{"file":"envelope.json"}"# },
        Example {
            about: "The text that remains in little space",
            input: r#"{"file":"envelope.json","budget":1000}"#,
        },
    ];

    type Input = EnvelopeInput;
    type Output = ReceiptRenderOutput;

    async fn run(cx: &mut CommandContext, input: EnvelopeInput) -> Result<ReceiptRenderOutput, Failure> {
        let (envelope, _) = read(cx, input).await?;
        let receipt = tools::render(&envelope);
        let chars = receipt.chars().count();
        Ok(ReceiptRenderOutput { receipt, chars })
    }

    fn text(output: &ReceiptRenderOutput) -> String {
        output.receipt.to_string()
    }
}

impl LocalCommand for ReceiptCompact {
    const PATH: &'static str = "receipt.compact";
    const ABOUT: &'static str = "Print a canonical envelope in fewer characters";
    const EXITS: &'static [u8] = &[5];
    const EXAMPLES: &'static [Example] = &[Example {
        about: "Keep names, ids, ends and artifacts, cut output",
        input: r#"{"file":"envelope.json","budget":1000}"#,
    }];

    type Input = EnvelopeInput;
    type Output = ReceiptCompactOutput;

    async fn run(cx: &mut CommandContext, input: EnvelopeInput) -> Result<ReceiptCompactOutput, Failure> {
        let (envelope, chars_before) = read(cx, input).await?;
        Ok(ReceiptCompactOutput { envelope: envelope.to_value(), chars: length(&envelope), chars_before })
    }

    fn text(output: &ReceiptCompactOutput) -> String {
        SafeText::json(&output.envelope).unwrap_or_default().to_string()
    }
}

/// Reads an envelope and compacts it; also returns its original length in characters.
async fn read(
    cx: &CommandContext,
    EnvelopeInput { file, budget }: EnvelopeInput,
) -> Result<(Envelope, usize), Failure> {
    let host = cx.host.clone();
    let name = file.clone();
    let bytes = tokio::task::spawn_blocking(move || fetch(&host, &name)).await;
    let bytes = bytes.map_err(|error| Failure::internal(&error))??;
    let envelope = parse(&bytes, &file)?;
    let before = length(&envelope);
    let budget = budget.map(|budget| usize::try_from(budget).unwrap_or(usize::MAX));
    Ok((budget.map_or(envelope.clone(), |budget| compact(&envelope, budget)), before))
}

fn fetch(host: &Arc<dyn Host>, file: &str) -> Result<Vec<u8>, Failure> {
    let bytes = match file {
        "-" => host.standard_input(LIMIT_BYTES)?,
        _ => match files::read(&host.cwd()?.join(file), Links::Within, LIMIT_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Err(too_large(file)),
            read => read.map_err(|error| unreadable(file, &error))?,
        },
    };
    if bytes.len() as u64 > LIMIT_BYTES { Err(too_large(file)) } else { Ok(bytes) }
}

fn too_large(file: &str) -> Failure {
    let message = format!("{} is larger than {LIMIT_BYTES} bytes, which no envelope is.", source_name(file));
    Failure::new(Code::ArgError, message).with("field", "file").with("limit_bytes", LIMIT_BYTES)
}

fn unreadable(file: &str, error: &io::Error) -> Failure {
    let code = match error.kind() {
        io::ErrorKind::NotFound => Code::NotFound,
        _ => Code::InputFileUnreadable,
    };
    Failure::new(code, format!("The file {file} cannot be read."))
        .detail(error.to_string())
        .with("field", "file")
        .fix("give the path of a file with a canonical envelope, or - for standard input")
}

fn parse(bytes: &[u8], file: &str) -> Result<Envelope, Failure> {
    let given: Result<Value, _> = serde_json::from_slice(bytes);
    let refused = |detail: String| {
        Failure::new(Code::ArgError, format!("{} is not a canonical envelope.", source_name(file)))
            .detail(detail)
            .with("field", "file")
            .fix(
                "give one JSON object with tool_name, status, summary_text, result and error, all five; \
                 the rows of a recording have it under `envelope`",
            )
    };
    let given = given.map_err(|error| refused(error.to_string()))?;
    if !given.is_object() {
        return Err(refused("it is no JSON object".to_owned()));
    }
    Envelope::deserialize(&given).map_err(|error| refused(error.to_string()))
}

fn source_name(file: &str) -> String {
    if file == "-" { "Standard input".to_owned() } else { format!("The file {file}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_envelope_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "EOF"),
            ("{", "EOF"),
            ("[]", "no JSON object"),
            ("{}", "missing field `tool_name`"),
            (
                r#"{"tool_name":"T","status":"success","summary_text":"s","result":null,"error":null}"#,
                "needs a result",
            ),
        ] {
            let failure = parse(text.as_bytes(), "-").expect_err(text);
            let told = crate::dispatch::Response::failure(failure).to_value();
            assert_eq!(told["error"]["code"], "ARG_ERROR", "{told}");
            assert!(told["error"]["detail"].as_str().is_some_and(|detail| detail.contains(reason)), "{told}");
            assert!(told["error"]["fix_required"].is_string(), "{told}");
        }
    }
}
