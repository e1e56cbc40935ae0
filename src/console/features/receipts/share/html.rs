//! A shared call as a page for a browser: one file, without scripts and without anything from elsewhere. Every text in
//! it is escaped, and the page forbids scripts by itself.

use std::fmt::Write as _;

use crate::console::features::receipts::share::contents::SharedCall;
use crate::console::text::{StyledPiece, WrappedText};
use crate::console::theme::Role;
use crate::terminal::{Palette, escape};

/// Wider than any line: a browser wraps by itself.
const UNWRAPPED: usize = 1 << 20;

/// Returns the page.
pub(super) fn document(call: &SharedCall, palette: &Palette) -> String {
    let title = escape(&call.title);
    let style = style(palette);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<header>\n"
    );
    for command in &call.commands {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "<h1>{}</h1>", escape(command));
    }
    page.push_str("<dl>\n");
    for (name, value) in &call.facts {
        let _ = writeln!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(value));
    }
    page.push_str("</dl>\n</header>\n<main>\n");
    section(&mut page, ("receipt", call.reader, &call.receipt_size), &call.receipt);
    section(&mut page, ("envelope", "the whole answer", &call.envelope_size), &call.envelope);
    page.push_str("</main>\n");
    section(&mut page, ("what was given", "of the output", &call.seen_size), &call.seen);
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(page, "<footer>pilothouse {version}; secrets are masked</footer>\n</body>\n</html>");
    page
}

fn section(page: &mut String, (name, about, size): (&str, &str, &str), text: &WrappedText) {
    let _ = write!(page, "<section>\n<h2>{name} <small>{about}; {}</small></h2>\n", escape(size));
    let mut text = text.clone();
    text.wrap(UNWRAPPED);
    if !text.rows().is_empty() {
        page.push_str("<pre>");
        for row in text.rows() {
            row.iter().for_each(|part| span(page, part));
            page.push('\n');
        }
        page.push_str("</pre>\n");
    }
    page.push_str("</section>\n");
}

fn span(page: &mut String, part: &StyledPiece) {
    let text = escape(&part.text);
    match class(part.role) {
        Some(class) => {
            let _ = write!(page, "<span class=\"{class}\">{text}</span>");
        }
        None => page.push_str(&text),
    }
}

fn class(role: Role) -> Option<&'static str> {
    match role {
        Role::Faint => Some("faint"),
        Role::Name | Role::Accent => Some("name"),
        Role::Literal => Some("literal"),
        Role::Failed => Some("failed"),
        Role::Title | Role::Strong => Some("strong"),
        _ => None,
    }
}

fn style(palette: &Palette) -> String {
    let hex = |(red, green, blue): (u8, u8, u8)| format!("#{red:02x}{green:02x}{blue:02x}");
    let (fore, back) = (hex(palette.fore), hex(palette.back));
    let [red, green, cyan, grey] = [1, 2, 6, 8].map(|at: usize| hex(palette.named[at]));
    let font = "ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace";
    format!(
        "body {{ margin: 1.5em; color: {fore}; background: {back}; font: 14px/1.4 {font}; }}\n\
         h1 {{ margin: 0; font-size: 1.15em; overflow-wrap: anywhere; }}\n\
         h2 {{ margin: 0; font-size: 1em; border-bottom: 1px solid {grey}; }}\n\
         small, dt, footer, .faint {{ color: {grey}; font-size: 1em; font-weight: normal; }}\n\
         dl {{ display: flex; flex-wrap: wrap; gap: .3em 2em; margin: .6em 0 1.2em; }}\n\
         dl div {{ display: flex; gap: .6em; }}\n\
         dd {{ margin: 0; }}\n\
         main {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30em, 100%), 1fr)); gap: 1.5em; }}\n\
         section {{ min-width: 0; margin-bottom: 1.2em; }}\n\
         pre {{ margin: .5em 0; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; }}\n\
         .name {{ color: {cyan}; }}\n.literal {{ color: {green}; }}\n.failed {{ color: {red}; }}\n\
         .strong {{ font-weight: bold; }}\n"
    )
}
