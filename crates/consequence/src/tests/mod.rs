//! What is computed, against what bash does, and against files that are only told of.

mod disk_look;
mod jail;
mod lines;
mod spellings;
mod told;
