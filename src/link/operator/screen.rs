//! One task's screen as bytes: its size, its id, and what redraws it on a fresh terminal.

use std::str::FromStr;

use crate::envelope::TaskId;
use crate::link::Error;
use crate::runtime::Screen;
use crate::terminal::{Origin, Size, Terminal};

/// Columns, rows (u16, big endian) and the length of the id stand before the id.
const HEAD: usize = 5;

/// A screen on its way to a console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) task: TaskId,
    pub(super) size: Size,
    pub(super) checkpoint: Vec<u8>,
}

impl Picture {
    /// Takes a picture of a screen, unless its parser is busy or gone.
    pub(super) fn take(task: &TaskId, screen: &Screen) -> Option<Self> {
        let (size, checkpoint) = screen.try_read(|terminal| (terminal.size(), terminal.checkpoint()))?;
        Some(Self { task: task.clone(), size, checkpoint })
    }

    /// Returns a terminal that shows the picture.
    pub(super) fn terminal(&self) -> Terminal {
        let mut terminal = Terminal::new(self.size, Origin::Tty);
        // What the terminal would reply to queries was answered where the program runs.
        let _ = terminal.feed(&self.checkpoint);
        terminal
    }

    /// Returns the bytes that travel.
    pub(super) fn encode(&self) -> Vec<u8> {
        let id = self.task.as_str().as_bytes();
        let mut bytes = Vec::with_capacity(HEAD + id.len() + self.checkpoint.len());
        bytes.extend_from_slice(&self.size.cols().to_be_bytes());
        bytes.extend_from_slice(&self.size.rows().to_be_bytes());
        bytes.push(u8::try_from(id.len()).unwrap_or(u8::MAX));
        bytes.extend_from_slice(id);
        bytes.extend_from_slice(&self.checkpoint);
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let broken = || Error::frame("a broken screen");
        let (&[a, b, c, d, length], rest) = bytes.split_first_chunk::<HEAD>().ok_or_else(broken)?;
        let (id, checkpoint) = rest.split_at_checked(usize::from(length)).ok_or_else(broken)?;
        let id = std::str::from_utf8(id).map_err(|_| broken())?;
        Ok(Self {
            task: TaskId::from_str(id).map_err(|_| broken())?,
            size: Size::clamped(u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])),
            checkpoint: checkpoint.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_picture_reads_back(id in any::<[u8; 8]>(), cols in 2..1000_u16, rows in 2..1000_u16, checkpoint in prop::collection::vec(any::<u8>(), 0..200)) {
            let picture = Picture { task: TaskId::from_random(id), size: Size::clamped(cols, rows), checkpoint };
            prop_assert_eq!(Picture::decode(&picture.encode()).expect("decodes"), picture);
        }

        #[test]
        fn noise_is_refused_or_read_but_never_panics(noise in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Picture::decode(&noise);
        }
    }
}
