//! Executes programs. Each room knows only those before it: `session` and `answers` are what may answer a question,
//! `survey` what a program may ask; `vm` executes a program; `run` provides what an execution needs and leaves
//! behind: folder, journal, runtime.

pub mod answers;
pub mod run;
pub mod session;
pub mod survey;
pub mod vm;
