//! Parts of the program by themselves, against the plainest way to do the same.

pub(crate) mod envelope;
pub(crate) mod journal;
