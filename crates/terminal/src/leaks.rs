//! Properties: pictures and clipboards that a program sends leak nothing, however they are cut into pieces.

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::scanner::label;
    use crate::{ByteOrigin, ByteSource, LogHistory, Mark, MarkKind, Size, Terminal, Transcript};

    /// What a program sends, and what stands for it.
    #[derive(Debug, Clone)]
    struct SentSequence {
        bytes: Vec<u8>,
        shown: String,
    }

    fn base64(most: usize) -> impl Strategy<Value = String> {
        (0..most, any::<u8>()).prop_map(|(length, seed)| {
            let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            (0..length).map(|at| char::from(alphabet[(at * 7 + usize::from(seed)) % 64])).collect()
        })
    }

    /// Returns a string with its terminator, and what stands for it if it is a picture.
    fn string(kind: &str, content: &str, end: &str, is_picture: bool) -> SentSequence {
        let shown = if is_picture { label(content.len()) } else { String::new() };
        SentSequence { bytes: format!("\x1b{kind}{content}{end}").into_bytes(), shown }
    }

    fn through_tmux(inner: &SentSequence) -> SentSequence {
        let text = String::from_utf8(inner.bytes.clone()).expect("text");
        let content = format!("tmux;{}", text.replace('\x1b', "\x1b\x1b"));
        string("P", &content, "\x1b\\", !inner.shown.is_empty())
    }

    fn ends() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["\x07", "\x1b\\"])
    }

    /// Pictures and clipboards of any size.
    fn sequences() -> impl Strategy<Value = SentSequence> {
        let iterm = (base64(120_000), ends())
            .prop_map(|(data, end)| string("]", &format!("1337;File=inline=1;size=9:{data}"), end, true));
        let clipboard = (base64(120_000), ends())
            .prop_map(|(data, end)| string("]", &format!("52;c;{data}"), end, false));
        let sixel = (base64(120_000), 1..80_usize).prop_map(|(data, width)| {
            let rows: Vec<&str> =
                data.as_bytes().chunks(width).map(|row| str::from_utf8(row).expect("ASCII")).collect();
            string("P", &format!("0;1;0q\"1;1;9;9#0;2;0;0;0{}", rows.join("$-\r\n#1~")), "\x1b\\", true)
        });
        let kitty = (base64(120_000), 100..8_000_usize).prop_map(|(data, chunk)| {
            let parts: Vec<&[u8]> = data.as_bytes().chunks(chunk).collect();
            let (mut bytes, mut all) = (Vec::new(), 0);
            for (at, part) in parts.iter().enumerate() {
                let more = u8::from(at + 1 < parts.len());
                let keys = if at == 0 { format!("Ga=T,f=100,m={more}") } else { format!("Gm={more}") };
                let content = format!("{keys};{}", str::from_utf8(part).expect("ASCII"));
                all += content.len();
                bytes.extend(string("_", &content, "\x1b\\", false).bytes);
            }
            SentSequence { bytes, shown: if all > 0 { label(all) } else { String::new() } }
        });
        let plain = prop_oneof![iterm, clipboard, sixel, kitty];
        let wrapped = (base64(60_000), prop::bool::ANY).prop_map(|(data, is_picture)| {
            through_tmux(&match is_picture {
                true => string("]", &format!("1337;File=:{data}"), "\x07", true),
                false => string("]", &format!("52;c;{data}"), "\x1b\\", false),
            })
        });
        prop_oneof![4 => plain, 1 => wrapped]
    }

    fn pieces(bytes: &[u8], sizes: &[usize]) -> Vec<Vec<u8>> {
        let (mut rest, mut pieces, mut at) = (bytes, Vec::new(), 0);
        while !rest.is_empty() {
            let size = sizes.get(at % sizes.len().max(1)).copied().unwrap_or(1_000).clamp(1, rest.len());
            let (piece, later) = rest.split_at(size);
            pieces.push(piece.to_vec());
            (rest, at) = (later, at + 1);
        }
        pieces
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn f58_pictures_and_clipboards_leak_nothing(
            sent in prop::collection::vec(sequences(), 1..3),
            sizes in prop::collection::vec(1..9_000_usize, 1..12),
            is_pipe in prop::bool::ANY,
        ) {
            let (mut bytes, mut shown) = (b"before ".to_vec(), "before ".to_owned());
            for one in &sent {
                bytes.extend_from_slice(&one.bytes);
                bytes.extend_from_slice(b" then ");
                shown.push_str(&one.shown);
                shown.push_str(" then ");
            }
            bytes.extend_from_slice(b"after");
            shown.push_str("after");
            let origin = if is_pipe { ByteOrigin::Pipe } else { ByteOrigin::Tty };
            let size = Size::nearest(120, 10);
            let mut transcript = Transcript::new(origin, size);
            let mut terminal = Terminal::with_recent(size, origin);
            for piece in pieces(&bytes, &sizes) {
                transcript.feed(&piece);
                let _ = terminal.feed(&piece);
            }
            prop_assert_eq!(transcript.finish(), shown.clone());
            prop_assert_eq!(terminal.screen_text(), shown.clone());
            if let Some(other) = terminal.excerpt(60) {
                prop_assert_eq!(other.draw().text().replace('\n', ""), shown.clone());
            }
            // Every page of the log, from whichever line it begins.
            let marks = [Mark { offset: 0, line: 0, at_ms: 0, kind: MarkKind::Chunk(ByteSource::Stdout) }];
            let history = LogHistory::new(bytes.as_slice(), &marks, origin, size);
            for first in [0, history.lines() / 3, history.lines() / 2, history.lines().saturating_sub(1)] {
                let page = history.page(first, Size::nearest(120, 50)).expect("reads");
                for row in &page.rows {
                    let text: String = row.cells.iter().map(|cell| cell.text.to_string()).collect();
                    let is_known = text.is_empty() || shown.contains(text.trim_end());
                    prop_assert!(is_known, "{:?} from line {}", text, first);
                }
            }
        }

        #[test]
        fn f58_any_strings_mean_the_same_however_they_are_cut(
            parts in prop::collection::vec(prop::sample::select(vec![
                "text", "\r\n", "\x1b]0;title", "\x07", "\x1b\\", "\x1bPq#1~", "\x1b_Ga=T;AA", "\x1b_Gm=1;AA", "\x1b[31m",
                "\x18", "\x1b7", "\x1bPtmux;\x1b\x1b]52;c;AA", "\x1b\x1b\\", "\x1b]1337;File=:AA", "é", "\x1b^", "\x1bX",
            ]), 0..24),
            sizes in prop::collection::vec(1..9_usize, 1..8),
        ) {
            let bytes = parts.concat().into_bytes();
            let size = Size::nearest(40, 8);
            let (mut transcript, mut terminal) = (Transcript::new(ByteOrigin::Tty, size), Terminal::new(size, ByteOrigin::Tty));
            for piece in pieces(&bytes, &sizes) {
                transcript.feed(&piece);
                let _ = terminal.feed(&piece);
            }
            let mut whole = Terminal::new(size, ByteOrigin::Tty);
            let _ = whole.feed(&bytes);
            prop_assert_eq!(transcript.finish(), crate::clean(&bytes, ByteOrigin::Tty, size));
            prop_assert_eq!(terminal.screen_text(), whole.screen_text());
        }
    }
}
