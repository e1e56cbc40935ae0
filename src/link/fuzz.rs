//! Entry points for the fuzz targets: everything that parses data from the sockets.

use futures_util::FutureExt as _;

use super::frame::{Frame, MAX_FRAME};
use super::hello::Hello;
use super::operator::fuzz_screen;
use super::protocol::{ClientMessage, ServerMessage};

/// Parses bytes as what either side of a connection sends: a hello, and frames of requests, replies and screens.
#[doc(hidden)]
pub fn fuzz_frames(bytes: &[u8]) {
    let _ = Hello::parse(bytes);
    let mut rest = bytes;
    while let Some(Ok(Some(frame))) = Frame::read(&mut rest, MAX_FRAME).now_or_never() {
        let _ = frame.parse::<ClientMessage>();
        if let Ok(ServerMessage::Screen(update)) = frame.parse() {
            fuzz_screen(update);
        }
    }
}
