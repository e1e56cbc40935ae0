//! `prose …`: programs read and checked, formatted, and shown as a tree. Nothing of a program runs here.

mod ast;
mod check;
mod files;
mod fmt;
mod sarif;

pub(super) use ast::ProseAst;
pub(super) use check::ProseCheck;
pub(super) use fmt::ProseFmt;
