//! A drawing as a picture (SVG): every run at its column, stretched to exactly the columns it takes, so that it stands
//! right in whatever fixed-width font the viewer has.

use std::fmt::Write as _;

use super::colours::{Palette, hex};
use super::{Drawing, Run, escaped, runs};

/// Size of a cell and of the border, in pixels.
const CELL: (f64, f64) = (8.4, 18.0);
const BORDER: f64 = 12.0;
/// Where text stands in its cell.
const BASELINE: f64 = 13.5;

pub(super) fn svg(drawing: &Drawing, title: &str, palette: &Palette) -> String {
    let widest = drawing.rows.iter().map(Vec::len).max().unwrap_or(0).max(usize::from(drawing.columns));
    let width = widest as f64 * CELL.0 + 2.0 * BORDER;
    let height = drawing.rows.len() as f64 * CELL.1 + 2.0 * BORDER;
    let (fore, back, title) = (hex(palette.fore), hex(palette.back), escaped(title));
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.1} {height:.1}\" font-size=\"14\" \
         font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" fill=\"{fore}\">\n\
         <title>{title}</title>\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{back}\"/>\n"
    );
    for (at, row) in drawing.rows.iter().enumerate() {
        let top = at as f64 * CELL.1 + BORDER;
        runs(row).iter().for_each(|run| put(&mut picture, run, top, palette));
    }
    picture.push_str("</svg>\n");
    picture
}

fn put(picture: &mut String, run: &Run, top: f64, palette: &Palette) {
    let style = run.style;
    let (left, width) = (run.column as f64 * CELL.0 + BORDER, run.columns as f64 * CELL.0);
    let (fore, back) = palette.inks(style);
    if let Some(back) = back {
        let height = CELL.1;
        // A string takes whatever is written to it.
        let _ = writeln!(
            picture,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{back}\"/>"
        );
    }
    if run.text.trim().is_empty() && !style.underline {
        return;
    }
    let mut facts = String::new();
    if fore != hex(palette.fore) {
        let _ = write!(facts, " fill=\"{fore}\"");
    }
    let flags = [
        (style.bold, " font-weight=\"bold\""),
        (style.dim, " opacity=\".6\""),
        (style.italic, " font-style=\"italic\""),
        (style.underline, " text-decoration=\"underline\""),
    ];
    flags.iter().filter(|(set, _)| *set).for_each(|(_, fact)| facts.push_str(fact));
    let (text, line) = (escaped(&run.text), top + BASELINE);
    let _ = writeln!(
        picture,
        "<text x=\"{left:.1}\" y=\"{line:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
         xml:space=\"preserve\"{facts}>{text}</text>"
    );
}
