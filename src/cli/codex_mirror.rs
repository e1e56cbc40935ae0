//! The stand-in for a process that Codex's own server runs: prints the output it receives, passes on what is typed,
//! and exits as the process did.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::ExitCode;

use rustix::termios::{OptionalActions, isatty, tcgetattr, tcsetattr};

use super::print;
use crate::agent::codex::StandInFrame;

/// The exit code if the outcome is unknown (`EX_TEMPFAIL`).
const UNKNOWN: u8 = 75;

/// Stands in for a process; `args` are the paths of the pipe to receive frames from and of the pipe to write typed
/// input to.
pub(super) fn run(args: &[OsString]) -> ExitCode {
    let [told, said] = args else { return ExitCode::from(UNKNOWN) };
    let said = || File::options().write(true).open(said);
    let (Ok(told), Ok(said)) = (File::open(told), said()) else {
        let _ = print::say("the owner of this process is gone");
        return ExitCode::from(UNKNOWN);
    };
    if isatty(io::stdin()) {
        let _ = as_it_comes();
        std::thread::spawn(move || pass_on(said));
    }
    let (mut told, mut code) = (io::BufReader::new(told), None);
    while let Some(frame) = StandInFrame::read(&mut told) {
        let shown = match frame {
            StandInFrame::Stdout(bytes) => print::bytes(&bytes, false),
            StandInFrame::Stderr(bytes) => print::bytes(&bytes, true),
            StandInFrame::Exit(exit) => {
                code = Some(exit);
                Ok(())
            }
        };
        if shown.is_err() {
            break;
        }
    }
    match code {
        Some(code) => ExitCode::from(u8::try_from(code & 0xff).unwrap_or(UNKNOWN)),
        None => {
            let _ = print::say("Codex is gone; how this process ended is not known");
            ExitCode::from(UNKNOWN)
        }
    }
}

/// Puts the terminal into pass-through mode: the process has a terminal of its own, which does the processing.
fn as_it_comes() -> rustix::io::Result<()> {
    let stdin = io::stdin();
    let mut modes = tcgetattr(stdin.as_fd())?;
    modes.make_raw();
    tcsetattr(stdin.as_fd(), OptionalActions::Now, &modes)
}

fn pass_on(mut said: File) {
    let mut typed = [0; 4096];
    while let Ok(length @ 1..) = io::stdin().lock().read(&mut typed) {
        if said.write_all(typed.get(..length).unwrap_or_default()).is_err() {
            return;
        }
    }
}
