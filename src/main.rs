//! The `pilothouse` program: hooks, then `cli::run`, then the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    pilothouse::cli::run(std::env::args_os())
}
