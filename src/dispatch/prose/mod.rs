//! `prose …`: programs read and checked, formatted, and shown as a tree; the gates of those that run. Nothing of a
//! program runs here.

mod ast;
mod check;
mod files;
mod fmt;
mod gate;
mod gates;
mod sarif;

pub(super) use ast::ProseAst;
pub(super) use check::ProseCheck;
pub(super) use fmt::ProseFmt;
pub use gate::{Decided, GateInput};
pub(super) use gate::{ProseGateDecide, ProseGateLog};
pub(super) use gates::ProseGates;
pub use gates::{attach, waiting};
