//! Links on a frame: where it shows a URL, its cells tell the terminal where they lead.

use ratatui::buffer::Buffer;

use crate::console::text::cell::link;

/// Makes a link of each place where a row of the frame shows all of `url`, which is text of another program.
pub(super) fn mark(frame: &mut Buffer, url: &str) {
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return;
    }
    let columns = usize::from(frame.area.width).max(1);
    for row in frame.content.chunks_mut(columns) {
        let is_shown = |at: usize| {
            let cells = row.get(at..at + url.len()).unwrap_or_default();
            !cells.is_empty() && cells.iter().zip(url.chars()).all(|(cell, own)| is(cell.symbol(), own))
        };
        let starts: Vec<usize> = (0..row.len()).filter(|at| is_shown(*at)).collect();
        for at in starts {
            row.iter_mut().skip(at).take(url.len()).for_each(|cell| link(cell, url));
        }
    }
}

fn is(symbol: &str, own: char) -> bool {
    let mut chars = symbol.chars();
    chars.next() == Some(own) && chars.next().is_none()
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    fn marked(text: &str, url: &str) -> Buffer {
        let mut frame = Buffer::empty(Rect::new(0, 0, 40, 2));
        frame.set_string(1, 1, text, Style::default());
        mark(&mut frame, url);
        frame
    }

    fn links(frame: &Buffer) -> usize {
        frame.content.iter().filter(|cell| cell.symbol().contains("]8;;")).count()
    }

    #[test]
    fn each_cell_of_a_url_is_a_link_of_one_column_and_the_rest_is_as_it_was() {
        let url = "http://localhost:5173/";
        let frame = marked("see http://localhost:5173/, ok", url);
        assert_eq!(links(&frame), url.len());
        let first = &frame[(5, 1)];
        assert_eq!(first.symbol(), "\x1b]8;;http://localhost:5173/\x1b\\h\x1b]8;;\x1b\\");
        assert_eq!(frame[(4, 1)].symbol(), " ");
        let before = Buffer::empty(frame.area);
        let changed: Vec<u16> = before.diff(&frame).iter().map(|(x, ..)| *x).collect();
        let shown = (1..31).filter(|column| ![4, 28].contains(column));
        assert_eq!(changed, shown.collect::<Vec<u16>>(), "no cell behind a link is left out");
    }

    #[test]
    fn an_unsafe_or_cut_url_is_no_link() {
        for url in ["http://a\x1b]0;x", "file:///etc", "http://ä", "http://a b"] {
            assert_eq!(links(&marked(url, url)), 0, "{url:?}");
        }
        assert_eq!(links(&marked("http://localhost:51", "http://localhost:5173/")), 0, "cut");
    }
}
