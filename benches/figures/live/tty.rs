//! A program in a terminal of its own that is drained all the time: its output, when it came, and in how many frames.

use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// The console brackets each frame with mode 2026: this ends one.
const FRAME_END: &[u8] = b"\x1b[?2026l";
/// How much of the output is kept for searching.
const KEPT: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(120);

/// A program in a terminal.
pub(crate) struct Tty {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn MasterPty + Send>,
}

/// The output so far.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) bytes: u64,
    pub(crate) frames: u64,
    /// When the first bytes came, and the end of the first frame.
    pub(crate) first: (Option<Instant>, Option<Instant>),
    text: Vec<u8>,
    /// What is searched for, what must follow it, and when that was found.
    needle: Option<(Vec<u8>, &'static [u8])>,
    found: Option<Instant>,
    ended: bool,
}

impl Seen {
    /// Tells whether a text is in the recent output, not interrupted by cursor motion.
    pub(crate) fn shows(&self, text: &str) -> bool {
        memchr::memmem::find(&self.text, text.as_bytes()).is_some()
    }

    fn take(&mut self, bytes: &[u8], now: Instant) {
        self.bytes += bytes.len() as u64;
        self.first.0.get_or_insert(now);
        // A read may cut a mark in two.
        let from = self.text.len().saturating_sub(FRAME_END.len() - 1);
        self.text.extend_from_slice(bytes);
        let ends = memchr::memmem::find_iter(&self.text[from..], FRAME_END).count() as u64;
        self.frames += ends;
        if ends > 0 {
            self.first.1.get_or_insert(now);
        }
        if let Some((needle, end)) = &self.needle
            && let Some(at) = memchr::memmem::find(&self.text, needle)
            && memchr::memmem::find(&self.text[at..], end).is_some()
        {
            (self.needle, self.found) = (None, Some(now));
        }
        if self.text.len() > KEPT {
            self.text.drain(..self.text.len() - KEPT / 2);
        }
    }
}

impl Tty {
    /// Starts a program in a terminal of this size.
    pub(crate) fn start(command: CommandBuilder, (cols, rows): (u16, u16)) -> Self {
        let size = PtySize { cols, rows, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("open a terminal");
        let child = pair.slave.spawn_command(command).expect("start the program");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("read the terminal");
        let writer = pair.master.take_writer().expect("write to the terminal");
        let seen = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let shared = seen.clone();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            loop {
                let length = reader.read(&mut buffer).unwrap_or(0);
                let now = Instant::now();
                let mut seen = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
                seen.ended = length == 0;
                seen.take(&buffer[..length], now);
                shared.1.notify_all();
                if length == 0 {
                    return;
                }
            }
        });
        Self { seen, writer, child, _master: pair.master }
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().expect("a started program has a pid")
    }

    /// Returns what `read` finds in the output.
    pub(crate) fn seen<R>(&self, read: impl FnOnce(&Seen) -> R) -> R {
        read(&self.seen.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until `fact` holds for the output.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, fact: impl Fn(&Seen) -> bool) {
        let seen = self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.seen.1.wait_timeout_while(seen, PATIENCE, |seen| !fact(seen) && !seen.ended);
        let (seen, _) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(fact(&seen), "waited for {what}; the last output is {:?}", end_of(&seen.text));
    }

    /// Waits for some time while the output is drained.
    pub(crate) fn rest(&self, time: Duration) {
        std::thread::sleep(time);
    }

    pub(crate) fn type_in(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("type");
        self.writer.flush().expect("type");
    }

    /// Types keys; returns the time until a complete frame with `needle` has come out.
    pub(crate) fn time_to(&mut self, keys: &str, needle: &str) -> Duration {
        self.timed(keys, needle, FRAME_END)
    }

    /// Types keys; returns the time until `needle` has come out, for programs that do not mark frames.
    pub(crate) fn time_to_text(&mut self, keys: &str, needle: &str) -> Duration {
        self.timed(keys, needle, b"")
    }

    fn timed(&mut self, keys: &str, needle: &str, end: &'static [u8]) -> Duration {
        {
            let mut seen = self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
            seen.text.clear();
            (seen.needle, seen.found) = (Some((needle.as_bytes().to_vec(), end)), None);
        }
        let started = Instant::now();
        self.type_in(keys);
        self.wait(needle, |seen| seen.found.is_some());
        self.seen(|seen| seen.found.map_or(Duration::MAX, |found| found - started))
    }

    /// Waits until the program has exited.
    pub(crate) fn end(&mut self) {
        self.child.wait().expect("wait for the program");
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn end_of(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[text.len().saturating_sub(2000)..]).into_owned()
}
