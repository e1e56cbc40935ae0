//! Executes programs. Each room knows only those before it: `record` is a run on disk, `answers` and `session` are what
//! answers a question, `survey` is what a program may ask; `vm` executes a program; `run` prepares a run, provides what
//! it needs of the runtime, and reports its outcome.

pub mod answers;
pub mod record;
pub mod run;
pub mod session;
pub mod survey;
pub mod value;
pub mod vm;
