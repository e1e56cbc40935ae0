//! The source of the lines: standard input, which is read to its end before the first line runs, or a file that is
//! read as it grows.

use std::io::{self, Cursor};
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;

use tokio::fs::File;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::net::unix::pipe::OpenOptions;

use super::line::MAX_LINE;
use crate::dispatch::code::Code;
use crate::dispatch::response::Failure;
use crate::envelope::units::Bytes;
use crate::files::{self, FileAccess, Links};

/// The maximum length of standard input that is read before the first line runs, in bytes.
pub const STDIN_BYTES: usize = 65_536;
/// The variable that overrides [`STDIN_BYTES`].
pub const STDIN_BYTES_VARIABLE: &str = "PILOTHOUSE_MAX_STDIN_BYTES";
/// The number of bytes read from a file at once.
const CHUNK: usize = 64 << 10;

/// Reads lines one after another.
pub struct Feed {
    reader: Box<dyn AsyncBufRead + Send + Unpin>,
    line: Vec<u8>,
    too_long: bool,
    /// Whether it is all there already: a FIFO's writer may write on for ever.
    is_whole: bool,
}

impl Feed {
    /// Reads `input` to its end; it may contain at most `limit` bytes.
    ///
    /// # Errors
    /// When it contains more, or cannot be read.
    pub async fn drain(input: impl AsyncRead + Unpin, limit: usize) -> Result<Self, Failure> {
        let mut all = Vec::new();
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        input.take(most).read_to_end(&mut all).await.map_err(|error| {
            Failure::new(Code::InputFileUnreadable, "Standard input cannot be read.")
                .detail(error.to_string())
        })?;
        if all.len() > limit {
            let message = format!("Standard input holds more than {limit} bytes.");
            return Err(Failure::new(Code::StdinTooLarge, message).with("limit_bytes", limit).fix(format!(
                "pass --input-file /dev/stdin to read it line by line, or raise {STDIN_BYTES_VARIABLE}"
            )));
        }
        Ok(Self::new(Cursor::new(all), true))
    }

    /// Opens a file. A FIFO waits for its writer, and gives its lines as they are written. Nothing else is opened.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn open(path: &str) -> Result<Self, Failure> {
        let unreadable = |error: io::Error| {
            Failure::new(Code::InputFileUnreadable, format!("The input file {path} cannot be read."))
                .detail(error.to_string())
                .with("input_file", path)
                .fix("check the path and its permissions")
        };
        let named = PathBuf::from(path);
        let file = tokio::task::spawn_blocking(move || {
            let is_fifo = named.metadata()?.file_type().is_fifo();
            if is_fifo { Ok(None) } else { files::open(&named, Links::Followed, FileAccess::Read).map(Some) }
        });
        match file.await.map_err(io::Error::other).flatten().map_err(unreadable)? {
            Some(file) => Ok(Self::new(BufReader::with_capacity(CHUNK, File::from_std(file)), true)),
            None => {
                let fifo = OpenOptions::new().open_receiver(path).map_err(unreadable)?;
                // Until there was a writer, it would read as ended.
                fifo.readable().await.map_err(unreadable)?;
                Ok(Self::new(BufReader::with_capacity(CHUNK, fifo), false))
            }
        }
    }

    fn new(reader: impl AsyncBufRead + Send + Unpin + 'static, is_whole: bool) -> Self {
        Self { reader: Box::new(reader), line: Vec::new(), too_long: false, is_whole }
    }

    /// Reads the rest and returns how many lines it has that are not blank; `None` for a FIFO, which is not read.
    pub(super) async fn count_rest(&mut self) -> io::Result<Option<u64>> {
        let mut count = 0;
        if !self.is_whole {
            return Ok(None);
        }
        while let Some(line) = self.next().await? {
            let is_blank = line.is_some_and(|line| line.iter().all(u8::is_ascii_whitespace));
            count += u64::from(!is_blank);
        }
        Ok(Some(count))
    }

    /// Returns the next line without its line feed: `Some(None)` for one too long to be kept, `None` at the end. The
    /// last line needs no line feed. Cancel-safe.
    pub(super) async fn next(&mut self) -> io::Result<Option<Option<Vec<u8>>>> {
        loop {
            let seen = self.reader.fill_buf().await?;
            if seen.is_empty() {
                let rest = !self.line.is_empty() || self.too_long;
                return Ok(rest.then(|| self.whole()));
            }
            let feed = memchr::memchr(b'\n', seen);
            let text = feed.unwrap_or(seen.len());
            if self.line.len() + text > MAX_LINE {
                self.too_long = true;
                self.line = Vec::new();
            }
            if !self.too_long {
                self.line.extend_from_slice(&seen[..text]);
            }
            let taken = feed.map_or(seen.len(), |at| at + 1);
            self.reader.consume(taken);
            if feed.is_some() {
                return Ok(Some(self.whole()));
            }
        }
    }

    fn whole(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        (!std::mem::take(&mut self.too_long)).then_some(line)
    }
}

/// Parses the limit on the size of standard input; `given` is the variable's value.
///
/// # Errors
/// When it is not a number.
pub fn stdin_limit(given: Option<&str>) -> Result<usize, Failure> {
    let Some(given) = given else { return Ok(STDIN_BYTES) };
    let size = || given.parse().ok().and_then(|Bytes(size)| usize::try_from(size).ok());
    given.trim().parse().ok().or_else(size).ok_or_else(|| {
        Failure::new(Code::ArgError, format!("{STDIN_BYTES_VARIABLE} is not a size."))
            .with("source", STDIN_BYTES_VARIABLE)
            .with("value", given.chars().take(40).collect::<String>())
            .fix(format!("set it to a number such as {STDIN_BYTES}, or unset it"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(bytes: &'static [u8]) -> Vec<Option<Vec<u8>>> {
        let mut feed = Feed::drain(bytes, bytes.len()).await.unwrap_or_else(|failure| panic!("{failure:?}"));
        let mut lines = Vec::new();
        while let Some(line) = feed.next().await.unwrap() {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn the_last_line_needs_no_line_feed() {
        assert_eq!(lines(b"a\n\nb").await, [Some(b"a".to_vec()), Some(vec![]), Some(b"b".to_vec())]);
        assert_eq!(lines(b"a\n").await, [Some(b"a".to_vec())]);
        assert!(lines(b"").await.is_empty());
    }

    #[tokio::test]
    async fn the_unread_lines_are_counted_without_blank_ones() {
        let mut feed =
            Feed::drain(&b"a\n\nb\n  \r\nc"[..], 99).await.unwrap_or_else(|failure| panic!("{failure:?}"));
        feed.next().await.unwrap();
        assert_eq!(feed.count_rest().await.unwrap(), Some(2));
        assert_eq!(feed.count_rest().await.unwrap(), Some(0));
    }

    #[tokio::test]
    async fn an_input_of_exactly_the_limit_passes_and_one_byte_more_is_refused() {
        assert!(Feed::drain(&b"12345"[..], 5).await.is_ok());
        let refused = Feed::drain(&b"123456"[..], 5).await.err().unwrap();
        assert_eq!(refused.code(), "STDIN_TOO_LARGE");
    }

    #[tokio::test]
    async fn a_line_without_end_holds_no_memory_and_the_next_one_is_read() {
        let endless = Box::leak([vec![b'x'; 3 << 20], b"\nb".to_vec()].concat().into_boxed_slice());
        assert_eq!(lines(endless).await, [None, Some(b"b".to_vec())]);
    }

    #[test]
    fn the_limit_is_a_number() {
        assert_eq!(stdin_limit(None).ok(), Some(65_536));
        assert_eq!(stdin_limit(Some("9")).ok(), Some(9));
        assert!(stdin_limit(Some("lots")).is_err());
    }
}
