//! Screen updates for an attached console: the rows of a task's screen that changed since the last update, and the
//! screens that they make up.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::envelope::TaskId;
use crate::link::Error;
use crate::terminal::{CellRun, Contents, Cursor, Modes, ScreenRow, Size};

/// Approximate limit for the bytes of rows in one update: further rows go with the next one. A screen of usual size
/// is far smaller.
const MAX_ROWS: usize = 2 << 20;
/// The most bytes a run takes besides its text.
const RUN_BYTES: usize = 192;
/// The most bytes of text that a cell has: a character with its combining marks.
const CELL_BYTES: usize = 32;
/// The most bytes of screens that a console holds of one runtime.
const MOST_BYTES: usize = 64 << 20;

/// The changes of one task's screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::link) struct ScreenUpdate {
    pub(super) task: TaskId,
    /// Whether the update starts from a blank screen, whatever was sent before.
    first: bool,
    size: Size,
    cursor: Cursor,
    modes: Modes,
    /// The rows that changed, by their index from the top.
    rows: Vec<(u16, Arc<ScreenRow>)>,
}

/// One task's screen as the console has it.
#[derive(Debug, Default)]
pub(super) struct SentScreen {
    contents: Contents,
    /// The row to start with, so that each gets its turn.
    next: usize,
    began: bool,
}

impl SentScreen {
    /// Returns the update that brings the console closer to `new`, and whether it is then complete.
    pub(super) fn update(&mut self, task: &TaskId, new: &Contents) -> (ScreenUpdate, bool) {
        let known = &mut self.contents;
        known.rows.resize_with(new.rows.len(), Arc::default);
        let (mut rows, mut bytes, mut rest) = (Vec::new(), 0, 0);
        for at in (0..new.rows.len()).map(|at| (at + self.next) % new.rows.len()) {
            let row = &new.rows[at];
            if known.rows[at] == *row {
                continue;
            }
            bytes += row.runs.iter().map(|run| 2 * run.text.len() + RUN_BYTES).sum::<usize>();
            if bytes > MAX_ROWS {
                rest += 1;
                continue;
            }
            known.rows[at] = Arc::clone(row);
            rows.extend(u16::try_from(at).ok().map(|at| (at, Arc::clone(row))));
        }
        self.next = rows.last().map_or(0, |(last, _)| usize::from(*last) + 1);
        (known.size, known.cursor, known.modes) = (new.size, new.cursor, new.modes);
        let first = !std::mem::replace(&mut self.began, true);
        let Contents { size, cursor, modes, .. } = *new;
        (ScreenUpdate { task: task.clone(), first, size, cursor, modes, rows }, rest == 0)
    }
}

impl ScreenUpdate {
    /// Applies the update to the previous screen.
    pub(super) fn apply(self, contents: &mut Contents) {
        if self.first {
            *contents = Contents::default();
        }
        (contents.size, contents.cursor, contents.modes) = (self.size, self.cursor, self.modes);
        contents.rows.resize_with(usize::from(self.size.rows()), Arc::default);
        let cells = usize::from(self.size.cols());
        for (at, row) in self.rows {
            let fits = row.runs.len() <= cells && text_bytes(&row) <= cells * CELL_BYTES;
            if let Some(known) = contents.rows.get_mut(usize::from(at)).filter(|_| fits) {
                *known = row;
            }
        }
    }
}

fn text_bytes(row: &ScreenRow) -> usize {
    row.runs.iter().map(|run| run.text.len()).sum()
}

/// The screens of a runtime's tasks, as far as they were shown.
#[derive(Debug, Default)]
pub(super) struct RemoteScreens {
    screens: HashMap<TaskId, RemoteScreen>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct RemoteScreen {
    /// How often it has changed.
    generation: u64,
    contents: Contents,
    bytes: usize,
}

impl RemoteScreens {
    pub(super) fn generation(&self, task: &TaskId) -> Option<u64> {
        self.screens.get(task).map(|screen| screen.generation)
    }

    pub(super) fn contents(&self, task: &TaskId) -> Option<&Contents> {
        self.screens.get(task).map(|screen| &screen.contents)
    }

    /// Applies an update. A screen that comes for the first time drops those of tasks that have ended; if there are
    /// too many, those that are not shown are dropped.
    ///
    /// # Errors
    /// If those that are shown are larger than a console holds.
    pub(super) fn apply(
        &mut self,
        update: ScreenUpdate,
        is_live: impl Fn(&TaskId) -> bool,
        is_shown: impl Fn(&TaskId) -> bool,
    ) -> Result<(), Error> {
        if !self.screens.contains_key(&update.task) {
            self.retain(is_live);
        }
        let screen = self.screens.entry(update.task.clone()).or_default();
        self.bytes -= screen.bytes;
        screen.generation += 1;
        update.apply(&mut screen.contents);
        let row = |row: &Arc<ScreenRow>| {
            size_of::<ScreenRow>() + row.runs.len() * size_of::<CellRun>() + text_bytes(row)
        };
        screen.bytes = screen.contents.rows.iter().map(row).sum();
        self.bytes += screen.bytes;
        if self.bytes > MOST_BYTES {
            self.retain(is_shown);
        }
        if self.bytes > MOST_BYTES {
            Err(Error::frame("larger screens than a console holds"))
        } else {
            Ok(())
        }
    }

    fn retain(&mut self, keeps: impl Fn(&TaskId) -> bool) {
        self.screens.retain(|task, _| keeps(task));
        self.bytes = self.screens.values().map(|screen| screen.bytes).sum();
    }
}

/// Entry point for the fuzz targets: applies a screen update as received.
pub(in crate::link) fn fuzz_screen(update: ScreenUpdate) {
    let mut contents = Contents::default();
    update.apply(&mut contents);
    let _ = contents.text();
    contents.rows.iter().for_each(|row| drop(row.cells().last()));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::link::frame::Frame;
    use crate::terminal::{ByteOrigin, Terminal};

    fn task() -> TaskId {
        TaskId::from_random([1; 8])
    }

    /// Returns what arrives at the other side.
    fn arrived(update: &ScreenUpdate) -> ScreenUpdate {
        Frame::json(update).expect("a frame").parse().expect("parses")
    }

    fn piece() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            8 => "[ -~]{1,20}".prop_map(String::into_bytes),
            4 => "[aé好e\u{301}❤\u{FE0F}\u{200D}👩\u{FFFD}ﾞ\u{202E}\"\\\\]{1,8}".prop_map(String::into_bytes),
            4 => Just(b"\r\n".to_vec()),
            6 => "\u{1b}\\[[0-9]{0,2}(;[0-9]{1,2}){0,2}[ABCDGHJKLMPSTX@dmr]".prop_map(String::into_bytes),
            2 => "\u{1b}\\[\\?(1|7|25|47|1049|1003|1006|2004)[hl]".prop_map(String::into_bytes),
            2 => "\u{1b}\\[(38;2;1;2;3|48;5;9|0|7|4|1)m".prop_map(String::into_bytes),
            1 => "\u{1b}\\[[0-6] q".prop_map(String::into_bytes),
            1 => prop::collection::vec(any::<u8>(), 1..6),
        ]
    }

    proptest! {
        #[test]
        fn the_screen_before_and_the_rows_that_changed_are_the_screen_now(
            steps in prop::collection::vec((prop::collection::vec(piece(), 0..12), 2..30_u16, 2..10_u16), 1..6),
        ) {
            let mut terminal = Terminal::new(Size::nearest(20, 6), ByteOrigin::Tty);
            let (mut sent, mut console) = (SentScreen::default(), Contents::default());
            for (pieces, cols, rows) in steps {
                if cols % 3 == 0 {
                    terminal.resize(Size::nearest(cols, rows));
                }
                terminal.feed(&pieces.concat());
                let now = Contents::of(&terminal);
                let (update, is_all) = sent.update(&task(), &now);
                prop_assert!(is_all);
                arrived(&update).apply(&mut console);
                prop_assert_eq!(&console, &now);
            }
        }

        #[test]
        fn the_text_and_the_cells_are_those_of_the_terminal(pieces in prop::collection::vec(piece(), 0..40)) {
            let mut terminal = Terminal::new(Size::nearest(20, 6), ByteOrigin::Tty);
            terminal.feed(&pieces.concat());
            let contents = Contents::of(&terminal);
            for row in 0..6 {
                let mut cells = contents.rows[usize::from(row)].cells().peekable();
                for col in 0..20 {
                    let cell = terminal.cell(row, col);
                    match cells.next_if(|(at, _)| *at == col) {
                        Some((_, sent)) => prop_assert_eq!(sent, cell),
                        None => prop_assert!(cell.width == 0 || cell.text == " " && cell.style == Default::default()),
                    }
                }
            }
            prop_assert!(contents.rows.iter().zip(0..).all(|(row, at)| row.wrapped == terminal.is_wrapped(at)));
        }
    }

    #[test]
    fn rows_that_did_not_change_are_not_sent() {
        let mut terminal = Terminal::new(Size::default(), ByteOrigin::Tty);
        let mut sent = SentScreen::default();
        terminal.feed(b"one\r\ntwo");
        assert_eq!(sent.update(&task(), &Contents::of(&terminal)).0.rows.len(), 2);
        terminal.feed(b"!");
        let (update, _) = sent.update(&task(), &Contents::of(&terminal));
        assert_eq!((update.first, update.rows.iter().map(|row| row.0).collect::<Vec<_>>()), (false, vec![1]));
    }

    #[test]
    fn the_largest_screen_of_colours_goes_in_several_updates_and_every_row_has_its_turn() {
        let mut terminal = Terminal::new(Size::nearest(1000, 1000), ByteOrigin::Tty);
        let cell = |at: u32| format!("\x1b[38;2;{};200;200;48;2;200;200;{}m\"", at % 256, (at + 1) % 256);
        terminal.feed((0..1_000_000).map(cell).collect::<String>().as_bytes());
        let mut contents = Contents::of(&terminal);
        let (mut sent, mut console) = (SentScreen::default(), Contents::default());
        let mut updates = 0;
        loop {
            let (update, is_all) = sent.update(&task(), &contents);
            let frame = Frame::json(&update).expect("a frame");
            assert!(frame.length() < 2 * MAX_ROWS, "{} bytes", frame.length());
            frame.parse::<ScreenUpdate>().expect("parses").apply(&mut console);
            updates += 1;
            // The first row never stops changing.
            let runs = vec![crate::terminal::CellRun {
                text: updates.to_string(),
                single: false,
                wide: false,
                style: Default::default(),
            }];
            contents.rows[0] = Arc::new(ScreenRow { runs, wrapped: false });
            if is_all {
                break;
            }
        }
        assert!((20..200).contains(&updates), "{updates} updates");
        assert_eq!(console.rows[1..], contents.rows[1..]);
    }

    #[test]
    fn rows_and_columns_that_do_not_exist_are_left_out() {
        let update = serde_json::json!({
            "task": task(), "first": true, "size": {"cols": 9, "rows": 3},
            "cursor": {"row": 900, "col": 900, "pending_wrap": false, "visible": true, "shape": "default"},
            "modes": Modes::default(),
            "rows": [[2, {"runs": [{"text": "x".repeat(70_000)}]}], [70, {"runs": []}], [1, {"runs": [{"text": "", "single": true}]}]],
        });
        let update: ScreenUpdate = serde_json::from_value(update).expect("parses");
        let mut console = Contents::default();
        update.apply(&mut console);
        assert_eq!(console.rows.len(), 3);
        assert_eq!(console.rows[2].cells().count(), 0, "no row of nine columns is that long");
    }

    #[test]
    fn f57_screens_take_no_more_than_they_may() {
        let full = |task: u8| {
            let rows: Vec<_> =
                (0..1000).map(|at| (at, json!({"runs": [{"text": "x".repeat(32_000)}]}))).collect();
            let update = json!({
                "task": TaskId::from_random([task; 8]), "first": true, "size": {"cols": 1000, "rows": 1000},
                "cursor": Cursor::default(), "modes": Modes::default(), "rows": rows,
            });
            serde_json::from_value::<ScreenUpdate>(update).expect("parses")
        };
        let mut screens = RemoteScreens::default();
        let seen = TaskId::from_random([9; 8]);
        for task in 0..9 {
            screens
                .apply(full(task), |_| true, |id| *id == seen)
                .expect("those that are not shown are dropped");
            assert!(screens.bytes <= MOST_BYTES);
        }
        let mut screens = RemoteScreens::default();
        assert!((0..9).any(|task| screens.apply(full(task), |_| true, |_| true).is_err()));
    }
}
