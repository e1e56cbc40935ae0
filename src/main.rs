//! The `pilothouse` program: calls `cli::run` and exits with its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    pilothouse::cli::run(std::env::args_os())
}
