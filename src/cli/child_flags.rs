//! The flags of `command run` that affect this process rather than the request.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction};

/// Prints the command's raw output instead of an answer.
pub(super) const RAW: &str = "raw";
/// Determines whose exit code this process returns.
pub(super) const EXIT_CODE: &str = "exit-code";

/// Returns the flags.
pub(super) fn flags() -> [Arg; 2] {
    [
        Arg::new(RAW)
            .long(RAW)
            .action(ArgAction::SetTrue)
            .help("Wait for it to end and copy its stdout and stderr byte for byte, without an answer"),
        Arg::new(EXIT_CODE)
            .long(EXIT_CODE)
            .value_name("WHOSE")
            .value_parser(PossibleValuesParser::new(["own", "child"]))
            .help(
                "`child`: wait for it to end and exit as it did, with 128+N after a signal, 124 on a \
                timeout, 125 if it was not run",
            ),
    ]
}
