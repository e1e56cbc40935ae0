//! Parts of the program in isolation, compared with the simplest way to do the same.

pub(crate) mod envelope;
pub(crate) mod history;
pub(crate) mod journal;
pub(crate) mod parse;
pub(crate) mod paste;
mod payloads;
pub(crate) mod terminal;

/// The processor seconds that this thread spends on `work`: on a busy machine, wall-clock time would include other
/// processes.
fn thread_time(work: impl FnOnce()) -> f64 {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let started = now();
    work();
    now() - started
}
