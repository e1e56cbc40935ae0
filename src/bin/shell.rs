//! The `pilothouse-shell` program: an agent's shell without the rest of Pilothouse, because it starts with every command.

use std::process::ExitCode;

fn main() -> ExitCode {
    pilothouse::cli::run_as_shell(std::env::args_os())
}
