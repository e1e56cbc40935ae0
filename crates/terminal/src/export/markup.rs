//! Renders a drawing as HTML or SVG. HTML: one `pre`, with a `span` for each styled run. SVG: each run is
//! placed at its column and stretched to exactly its width in columns, so that it is right with whatever
//! fixed-width font the viewer has.

use std::fmt::Write as _;

use super::colours::{Palette, hex};
use super::{CellDrawing, StyledRun, runs};
use crate::cell::CellStyle;

/// Size of a cell and of the border, in pixels.
const CELL: (f64, f64) = (8.4, 18.0);
const BORDER: f64 = 12.0;
/// The baseline of text in its cell.
const BASELINE: f64 = 13.5;

/// Returns an HTML page.
pub(super) fn html(drawing: &CellDrawing, title: &str, palette: &Palette) -> String {
    let title = escape(title);
    let (fore, back) = (hex(palette.fore), hex(palette.back));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>\n\
         body {{ margin: 1em; color: {fore}; background: {back}; }}\n\
         pre {{ font: 14px/1.25 ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; \
         white-space: pre-wrap; overflow-wrap: anywhere; }}\n\
         </style>\n</head>\n<body>\n<pre>"
    );
    for row in &drawing.rows {
        runs(&row.cells).iter().for_each(|run| span(&mut page, run, palette));
        if !row.wrapped {
            page.push('\n');
        }
    }
    page.push_str("</pre>\n</body>\n</html>\n");
    page
}

fn span(page: &mut String, run: &StyledRun, palette: &Palette) {
    let text = escape(&run.text);
    if run.style == CellStyle::default() {
        return page.push_str(&text);
    }
    let (fore, back) = palette.inks(run.style);
    let background = back.map(|back| format!(";background:{back}")).unwrap_or_default();
    let rules = [";font-weight:bold", ";opacity:.6", ";font-style:italic"];
    let attributes = attributes(run.style, rules, |lines| format!(";text-decoration:{lines}"));
    // Writing to a string cannot fail.
    let _ = write!(page, "<span style=\"color:{fore}{background}{attributes}\">{text}</span>");
}

/// Returns an SVG image.
pub(super) fn svg(drawing: &CellDrawing, title: &str, palette: &Palette) -> String {
    let widest =
        drawing.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0).max(usize::from(drawing.columns));
    let width = widest as f64 * CELL.0 + 2.0 * BORDER;
    let height = drawing.rows.len() as f64 * CELL.1 + 2.0 * BORDER;
    let (fore, back, title) = (hex(palette.fore), hex(palette.back), escape(title));
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.1} {height:.1}\" font-size=\"14\" \
         font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" fill=\"{fore}\">\n\
         <title>{title}</title>\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{back}\"/>\n"
    );
    for (at, row) in drawing.rows.iter().enumerate() {
        let top = at as f64 * CELL.1 + BORDER;
        runs(&row.cells).iter().for_each(|run| text(&mut picture, run, top, palette));
    }
    picture.push_str("</svg>\n");
    picture
}

fn text(picture: &mut String, run: &StyledRun, top: f64, palette: &Palette) {
    let style = run.style;
    let (left, width) = (run.column as f64 * CELL.0 + BORDER, run.columns as f64 * CELL.0);
    let (fore, back) = palette.inks(style);
    if let Some(back) = back {
        let height = CELL.1;
        let _ = writeln!(
            picture,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{back}\"/>"
        );
    }
    if run.text.trim().is_empty() && !(style.underline || style.struck) {
        return;
    }
    let fill = if fore == hex(palette.fore) { String::new() } else { format!(" fill=\"{fore}\"") };
    let attributes =
        attributes(style, [" font-weight=\"bold\"", " opacity=\".6\"", " font-style=\"italic\""], |lines| {
            format!(" text-decoration=\"{lines}\"")
        });
    let (text, line) = (escape(&run.text), top + BASELINE);
    let _ = writeln!(
        picture,
        "<text x=\"{left:.1}\" y=\"{line:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
         xml:space=\"preserve\"{fill}{attributes}>{text}</text>"
    );
}

/// Returns the concatenation of those of the three texts whose attribute is set (bold, dim, italic), and of what draws
/// the lines across the text.
fn attributes(style: CellStyle, texts: [&str; 3], lines: impl FnOnce(&str) -> String) -> String {
    let flags = [style.bold, style.dim, style.italic];
    let lines = match (style.underline, style.struck) {
        (false, false) => None,
        (true, false) => Some(lines("underline")),
        (false, true) => Some(lines("line-through")),
        (true, true) => Some(lines("underline line-through")),
    };
    let set = flags.into_iter().zip(texts).filter(|(set, _)| *set).map(|(_, text)| text.to_owned());
    set.chain(lines).collect()
}

/// Escapes text for HTML and SVG, within elements and quoted attributes.
pub fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
