//! `prose …`: parses, checks and formats programs, and shows their syntax trees; manages the gates of running ones.
//! No program is run here.

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
pub use gate::{GateDecision, GateInput};
pub(super) use gate::{ProseGateDecide, ProseGateLog};
pub(super) use gates::ProseGates;
pub use gates::{attach, waiting};
