//! One task's terminal, shared between its parser and its readers.
//!
//! Drawing must never wait for a flooding parser (with a plain mutex, waits of seconds were measured). The reader
//! raises a flag and tries for a moment; the parser checks the flag between slices and yields.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use crate::terminal::{ByteOrigin, Contents, FeedResult, PackedTerminal, Size, Terminal};

/// How long a reader tries before it must redraw its previous picture.
const PATIENCE: Duration = Duration::from_micros(300);
/// How long a program in the middle of a frame (mode 2026) may leave readers with the previous picture.
const HOLD: Duration = Duration::from_millis(150);

/// A terminal with a generation that changes whenever there is something new to draw.
// A lock, not a message: cells are read in place, because copying the grid for each frame would cost as much as the
// frame.
pub struct TaskScreen {
    shared: Mutex<ScreenState>,
    wanted: AtomicBool,
    generation: AtomicU64,
    /// How long a frame may be in the making before it is read as it is.
    hold: Duration,
}

struct ScreenState {
    stage: ScreenStage,
    /// Since when the program has been in the middle of a frame.
    held: Option<Instant>,
    /// Whether it could not be packed, and has not changed since.
    is_unpackable: bool,
}

/// What there is of the terminal.
enum ScreenStage {
    /// What it is created with once it is needed: most commands are short and print little, and an empty grid costs more
    /// than they do.
    Blank(Size, ByteOrigin),
    Whole(Box<Terminal>),
    Packed(Box<PackedTerminal>),
    Dropped,
}

impl ScreenState {
    fn terminal(&mut self) -> Option<&mut Terminal> {
        self.stage = match std::mem::replace(&mut self.stage, ScreenStage::Dropped) {
            ScreenStage::Blank(size, origin) => {
                ScreenStage::Whole(Terminal::with_recent(size, origin).into())
            }
            ScreenStage::Packed(packed) => ScreenStage::Whole(packed.unpack().into()),
            stage => stage,
        };
        match &mut self.stage {
            ScreenStage::Whole(terminal) => Some(terminal),
            _ => None,
        }
    }

    /// Returns the terminal, to be changed.
    fn changing(&mut self) -> Option<&mut Terminal> {
        self.is_unpackable = false;
        self.terminal()
    }
}

impl fmt::Debug for TaskScreen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").field("generation", &self.generation()).finish_non_exhaustive()
    }
}

impl TaskScreen {
    /// Wraps a terminal that no parser feeds.
    pub fn from_terminal(terminal: Terminal) -> Self {
        Self::with(ScreenStage::Whole(terminal.into()))
    }

    /// Returns a screen on which nothing was shown yet. Its terminal can be shown at other widths.
    pub(super) fn blank(size: Size, origin: ByteOrigin) -> Self {
        Self::with(ScreenStage::Blank(size, origin))
    }

    fn with(stage: ScreenStage) -> Self {
        Self {
            shared: Mutex::new(ScreenState { stage, held: None, is_unpackable: false }),
            wanted: AtomicBool::new(false),
            generation: AtomicU64::new(1),
            hold: HOLD,
        }
    }

    /// Returns a number that changes when there is something new to draw.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Reads the terminal, waiting at most 0.3 ms for its parser; `None` if it is busy for longer, the program is in
    /// the middle of a frame, or the task has ended and its terminal was dropped.
    #[expect(clippy::disallowed_methods, reason = "a spin limit of microseconds, not a decision")]
    pub fn try_read<R>(&self, read: impl FnOnce(&Terminal) -> R) -> Option<R> {
        let started = Instant::now();
        self.wanted.store(true, Ordering::Release);
        let guard = loop {
            match self.shared.try_lock() {
                Ok(guard) => break Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => break Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if started.elapsed() > PATIENCE => break None,
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        };
        self.wanted.store(false, Ordering::Release);
        let mut shared = guard?;
        let is_held = shared.held.is_some_and(|since| started.saturating_duration_since(since) < self.hold);
        shared.terminal().filter(|_| !is_held).map(|terminal| read(terminal))
    }

    /// Returns what the terminal shows, or would show with the given number of columns; `None` if it cannot be read
    /// now, as with [`Self::try_read`].
    pub fn contents(&self, columns: Option<u16>) -> Option<Contents> {
        let read = |terminal: &Terminal| match columns.and_then(|columns| terminal.excerpt(columns)) {
            Some(excerpt) => Err(excerpt),
            None => Ok(Contents::of(terminal)),
        };
        // Drawn after the lock is released to the parser.
        Some(self.try_read(read)?.unwrap_or_else(|excerpt| excerpt.draw()))
    }

    /// Reads the terminal, waiting however long its parser's slice takes.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&Terminal) -> R) -> Option<R> {
        self.wanted.store(true, Ordering::Release);
        let mut guard = self.lock();
        self.wanted.store(false, Ordering::Release);
        guard.terminal().map(|terminal| read(terminal))
    }

    /// Changes the terminal and marks it for redrawing.
    pub fn update<R>(&self, change: impl FnOnce(&mut Terminal) -> R) -> Option<R> {
        let result = self.lock().changing().map(change);
        self.generation.fetch_add(1, Ordering::AcqRel);
        result
    }

    /// Tells whether there is a terminal that can be fed at once: it was created, is not packed, and nobody uses it.
    pub(crate) fn is_whole(&self) -> bool {
        self.shared.try_lock().is_ok_and(|shared| matches!(shared.stage, ScreenStage::Whole(_)))
    }

    /// Feeds the terminal with its program's output, which may leave it in the middle of a frame.
    #[expect(clippy::disallowed_methods, reason = "a limit for readers, who have no clock either")]
    pub(crate) fn feed(&self, feed: impl FnOnce(&mut Terminal) -> FeedResult) -> Option<FeedResult> {
        let mut shared = self.lock();
        let fed = shared.changing().map(feed);
        let since = fed.as_ref().filter(|fed| fed.hold_frames).map(|_| Instant::now());
        shared.held = shared.held.filter(|_| since.is_some()).or(since);
        drop(shared);
        self.generation.fetch_add(1, Ordering::AcqRel);
        fed
    }

    /// Packs the terminal of a task that nobody sees and that prints nothing, until it is needed again; tells whether
    /// it did. Takes milliseconds.
    pub(crate) fn pack(&self) -> bool {
        let mut shared = self.lock();
        let stage = match std::mem::replace(&mut shared.stage, ScreenStage::Dropped) {
            ScreenStage::Whole(terminal) if !shared.is_unpackable => terminal.pack(),
            stage => {
                shared.stage = stage;
                return false;
            }
        };
        shared.is_unpackable = stage.is_err();
        shared.stage = match stage {
            Ok(packed) => ScreenStage::Packed(packed.into()),
            Err(terminal) => ScreenStage::Whole(terminal),
        };
        !shared.is_unpackable
    }

    /// Drops the terminal of an ended task.
    pub(crate) fn drop_terminal(&self) {
        let mut shared = self.lock();
        shared.stage = ScreenStage::Dropped;
        drop(shared);
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Tells a parser whether a reader is waiting.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }

    // Panics inside the parser are caught further down; after poisoning, the terminal is still usable.
    fn lock(&self) -> MutexGuard<'_, ScreenState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{ByteOrigin, Size};

    /// Longer than any machine takes from one line of a test to the next.
    const LONG: Duration = Duration::from_secs(600);

    fn text(screen: &TaskScreen) -> Option<String> {
        screen.try_read(Terminal::screen_text)
    }

    #[test]
    fn a_terminal_is_ready_for_output_when_it_is_created_unpacked_and_unused() {
        let screen = TaskScreen::blank(Size::default(), ByteOrigin::Tty);
        assert!(!screen.is_whole());
        let _ = screen.feed(|terminal| terminal.feed(b"a line\r\n"));
        assert!(screen.is_whole());
        screen.read(|_| assert!(!screen.is_whole()));
        assert!(screen.pack() && !screen.is_whole());
        let _ = screen.feed(|terminal| terminal.feed(b"another\r\n"));
        assert!(screen.is_whole());
    }

    #[test]
    fn half_a_frame_is_not_read_until_it_is_whole() {
        let mut screen = TaskScreen::from_terminal(Terminal::new(Size::default(), ByteOrigin::Tty));
        screen.hold = LONG;
        let feed = |bytes: &[u8]| screen.feed(|terminal| terminal.feed(bytes));
        feed(b"whole");
        assert_eq!(text(&screen).as_deref(), Some("whole"));
        feed(b"\x1b[?2026h\x1b[2J\x1b[Hhal");
        feed(b"f");
        assert_eq!(text(&screen), None);
        assert_eq!(screen.read(Terminal::screen_text).as_deref(), Some("half"), "asked for as it is");
        feed(b" no more\x1b[?2026l");
        assert_eq!(text(&screen).as_deref(), Some("half no more"));
    }

    #[test]
    fn a_blank_screen_is_an_empty_terminal_until_it_is_dropped() {
        let size = |screen: &TaskScreen| screen.try_read(Terminal::size);
        let (wide, narrow) = (Size::nearest(50, 7), Size::nearest(30, 5));
        let resized = TaskScreen::blank(wide, ByteOrigin::Tty);
        resized.update(|terminal| terminal.resize(narrow));
        assert_eq!((size(&resized), text(&resized).as_deref()), (Some(narrow), Some("")));
        let fed = TaskScreen::blank(wide, ByteOrigin::Pipe);
        fed.feed(|terminal| terminal.feed(b"a\nb"));
        assert_eq!((size(&fed), text(&fed).as_deref()), (Some(wide), Some("a\nb")));
        let dropped = TaskScreen::blank(wide, ByteOrigin::Tty);
        dropped.drop_terminal();
        assert_eq!((size(&dropped), text(&dropped)), (None, None));
    }

    #[test]
    fn a_screen_is_shown_at_another_width_unless_it_is_drawn_on() {
        let screen = TaskScreen::from_terminal(Terminal::with_recent(Size::nearest(20, 4), ByteOrigin::Tty));
        let feed = |bytes: &[u8]| screen.feed(|terminal| terminal.feed(bytes));
        let shown =
            |columns| screen.contents(columns).map(|contents| (contents.size.cols(), contents.text()));
        feed(b"a line of output\r\n");
        assert_eq!(shown(None), Some((20, "a line of output".to_owned())));
        assert_eq!(shown(Some(10)), Some((10, "a line of\noutput".to_owned())));
        feed(b"\x1b[1;3Hx");
        assert_eq!(shown(Some(10)), Some((20, "a xine of output".to_owned())));
    }

    #[test]
    fn a_screen_is_packed_until_it_is_needed() {
        let screen = TaskScreen::blank(Size::nearest(20, 4), ByteOrigin::Tty);
        let feed = |bytes: &[u8]| screen.feed(|terminal| terminal.feed(bytes));
        let is_packed = || matches!(screen.lock().stage, ScreenStage::Packed(_));
        screen.pack();
        assert!(!is_packed(), "there is nothing to pack");
        feed(b"one\r\n\x1b[31mtwo");
        let generation = screen.generation();
        screen.pack();
        assert!(is_packed());
        assert_eq!(text(&screen).as_deref(), Some("one\ntwo"));
        assert!(!is_packed() && screen.generation() == generation, "nothing new is to be drawn");
        screen.pack();
        feed(b"\r\nthree");
        assert_eq!(text(&screen).as_deref(), Some("one\ntwo\nthree"));
        feed(b"\x1b[1;2r");
        screen.pack();
        assert!(!is_packed() && screen.lock().is_unpackable, "margins are not drawn again");
        feed(b"\x1b[r");
        screen.pack();
        assert!(is_packed());
    }

    #[test]
    fn a_frame_that_never_ends_is_read_after_a_while() {
        let mut screen = TaskScreen::from_terminal(Terminal::new(Size::default(), ByteOrigin::Tty));
        screen.hold = LONG;
        screen.feed(|terminal| terminal.feed(b"\x1b[?2026hforgotten"));
        assert_eq!(text(&screen), None);
        screen.hold = HOLD;
        let read = std::iter::from_fn(|| Some(text(&screen))).flatten().next();
        assert_eq!(read.as_deref(), Some("forgotten"));
    }
}
