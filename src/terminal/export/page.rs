//! A drawing as a page for a browser: one `pre`, a `span` for each run that is not plain.

use std::fmt::Write as _;

use super::colours::{Palette, hex};
use super::{Drawing, Run, escaped, runs};
use crate::terminal::cell::CellStyle;

pub(super) fn html(drawing: &Drawing, title: &str, palette: &Palette) -> String {
    let title = escaped(title);
    let (fore, back) = (hex(palette.fore), hex(palette.back));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>\n\
         body {{ margin: 1em; color: {fore}; background: {back}; }}\n\
         pre {{ font: 14px/1.25 ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; }}\n\
         </style>\n</head>\n<body>\n<pre>"
    );
    for row in &drawing.rows {
        runs(row).iter().for_each(|run| put(&mut page, run, palette));
        page.push('\n');
    }
    page.push_str("</pre>\n</body>\n</html>\n");
    page
}

fn put(page: &mut String, run: &Run, palette: &Palette) {
    let text = escaped(&run.text);
    if run.style == CellStyle::default() {
        return page.push_str(&text);
    }
    let style = run.style;
    let (fore, back) = palette.inks(style);
    let mut css = format!("color:{fore}");
    if let Some(back) = back {
        // A string takes whatever is written to it.
        let _ = write!(css, ";background:{back}");
    }
    let flags = [
        (style.bold, ";font-weight:bold"),
        (style.dim, ";opacity:.6"),
        (style.italic, ";font-style:italic"),
        (style.underline, ";text-decoration:underline"),
    ];
    flags.iter().filter(|(set, _)| *set).for_each(|(_, rule)| css.push_str(rule));
    let _ = write!(page, "<span style=\"{css}\">{text}</span>");
}
