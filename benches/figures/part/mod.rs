//! Parts of the program by themselves, against the plainest way to do the same.

pub(crate) mod envelope;
pub(crate) mod history;
pub(crate) mod journal;
pub(crate) mod parse;
mod payloads;
pub(crate) mod terminal;

/// Seconds of the processor that this thread spends on it: on a busy machine the clock on the wall counts the others
/// as well.
fn thread_time(work: impl FnOnce()) -> f64 {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let started = now();
    work();
    now() - started
}
