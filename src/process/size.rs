//! How large a command's process tree is, to be compared with its ceilings where no control group holds them.

use super::tree::{self, ProcessEntry, proc_file};

/// The size of the processes below a task host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TreeSize {
    /// Bytes of memory: at first shared memory counts once for each process, and where that exceeds the ceiling, once.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u32,
}

impl TreeSize {
    /// Measures the tree below a task host; `None` if the host is gone. Reads a few files for each process, and beyond
    /// `ceiling` the kernel's sum of each one's pages.
    pub fn below(host: u32, ceiling: Option<u64>) -> Option<Self> {
        let host = ProcessEntry::read(i32::try_from(host).ok()?)?;
        let tree = tree::descendants(host.pid);
        let page = rustix::param::page_size() as u64;
        let resident = tree.iter().map(|process| process.rss_pages.saturating_mul(page)).sum();
        let processes = tree.iter().filter(|process| !process.zombie).map(|process| process.threads).sum();
        let is_over = ceiling.is_some_and(|ceiling| resident > ceiling);
        let memory = if is_over { tree.iter().map(share).sum() } else { resident };
        Some(Self { memory, processes })
    }
}

/// Returns a process's memory, of which what it shares counts in proportion. If the kernel does not tell, what it shares
/// with files does not count.
fn share(process: &ProcessEntry) -> u64 {
    let rollup = proc_file(process.pid, "smaps_rollup").ok().and_then(|text| proportional(&text));
    rollup.or_else(|| own_pages(&proc_file(process.pid, "statm").ok()?)).unwrap_or_default()
}

/// Parses the line `Pss: 1234 kB` of `/proc/PID/smaps_rollup`.
fn proportional(text: &[u8]) -> Option<u64> {
    let line = std::str::from_utf8(text).ok()?.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// Parses `/proc/PID/statm`: the pages in memory that are not of a file.
fn own_pages(text: &[u8]) -> Option<u64> {
    let mut fields = std::str::from_utf8(text).ok()?.split_ascii_whitespace().skip(1);
    let mut next = || fields.next()?.parse::<u64>().ok();
    let (resident, shared) = (next()?, next()?);
    Some(resident.saturating_sub(shared).saturating_mul(rustix::param::page_size() as u64))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;

    use super::*;

    #[test]
    fn shares_are_read_from_the_kernels_words() {
        let rollup =
            b"55f0-7ffe ---p 00000000 00:00 0 [rollup]\nRss: 9000 kB\nPss:    4096 kB\nPss_Dirty: 4 kB\n";
        assert_eq!(proportional(rollup), Some(4 << 20));
        assert_eq!((proportional(b""), proportional(b"Pss: x kB\n")), (None, None));
        let page = rustix::param::page_size() as u64;
        assert_eq!(own_pages(b"900 300 100 1 0 50 0\n"), Some(200 * page));
        assert_eq!(own_pages(b"900 300"), None);
    }

    #[test]
    fn shared_memory_of_a_tree_counts_once_when_a_ceiling_is_passed() {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "cat; true"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().expect("a shell");
        let (mut input, output) = (shell.stdin.take().expect("a pipe"), shell.stdout.take().expect("a pipe"));
        input.write_all(b"on\n").expect("written");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("what cat has read");
        let (first, exact) = (TreeSize::below(shell.id(), None), TreeSize::below(shell.id(), Some(0)));
        drop(input);
        let _ = shell.wait();
        let (first, exact) = (first.expect("measured"), exact.expect("measured"));
        assert_eq!((first.processes, exact.processes), (1, 1));
        assert!(exact.memory > 0 && exact.memory < first.memory, "{first:?} {exact:?}");
        assert_eq!(TreeSize::below(u32::MAX, None), None);
    }
}
