//! The terminal that the tests were started in is not theirs: a program that a test starts must neither ask the person
//! in front of it nor be stopped by it. Nor does it ignore the signals that a job in the background ignores.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::sync::Once;

/// Gives up the terminal of this process for it and everything that it starts, once. It stays in its process group, so
/// that Ctrl-C still ends the tests.
pub(crate) fn give_up_terminal() {
    static GIVEN_UP: Once = Once::new();
    GIVEN_UP.call_once(|| {
        heed_signals();
        let Ok(terminal) = File::open("/dev/tty") else { return };
        release(&terminal);
        assert!(
            File::open("/dev/tty").is_err(),
            "a program of a test would open the terminal of whoever runs it"
        );
    });
}

/// What ignores a signal hands that on: `cargo test &` in a script ignores SIGINT, `nohup` SIGHUP.
#[expect(unsafe_code, reason = "no safe function sets what a signal does")]
fn heed_signals() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: it is set to what it does by default; no handler is involved.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

#[expect(unsafe_code, reason = "no safe function gives a controlling terminal up")]
fn release(terminal: &File) {
    // SAFETY: the descriptor is open, and the request takes no argument.
    let done = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY) };
    assert_eq!(done, 0, "the terminal is given up: {}", std::io::Error::last_os_error());
}
