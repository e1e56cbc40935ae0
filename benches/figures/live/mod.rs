//! The built program under load, in a terminal as a person uses it: what it costs and how long things take.

pub(crate) mod attach;
pub(crate) mod batch;
mod bound;
pub(crate) mod drain;
pub(crate) mod echo;
pub(crate) mod exec;
pub(crate) mod far;
pub(crate) mod fleet;
pub(crate) mod frame;
mod house;
pub(crate) mod idle;
pub(crate) mod list;
pub(crate) mod many;
pub(crate) mod memory;
mod peers;
mod places;
pub(crate) mod proc;
pub(crate) mod process;
pub(crate) mod prose;
pub(crate) mod shell;
pub(crate) mod spawn;
pub(crate) mod start;
mod tty;

use super::report;
