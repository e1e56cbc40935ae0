//! How short of memory the machine is, as the kernel reports it.

use std::path::Path;

use crate::files::{self, Links};

/// Where the kernel reports it.
pub(super) const PRESSURE: &str = "/proc/pressure/memory";
/// The most bytes of that.
const MOST: u64 = 4 << 10;

/// Returns the share of the last ten seconds in which something waited for memory, in percent; `None` where the kernel
/// does not report it.
pub(crate) fn memory_pressure() -> Option<f32> {
    read(Path::new(PRESSURE))
}

pub(super) fn read(file: &Path) -> Option<f32> {
    some_avg10(&files::read_text(file, Links::Followed, MOST).ok()?)
}

fn some_avg10(text: &str) -> Option<f32> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_ascii_whitespace().find_map(|field| field.strip_prefix("avg10="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_last_ten_seconds_is_read() {
        let text =
            "some avg10=12.34 avg60=1.00 avg300=0.00 total=7\nfull avg10=99.00 avg60=0 avg300=0 total=1\n";
        assert_eq!(some_avg10(text), Some(12.34));
        for other in ["", "full avg10=1.00\n", "some avg10=x\n", "some avg60=1.00\n"] {
            assert_eq!(some_avg10(other), None, "{other}");
        }
    }
}
