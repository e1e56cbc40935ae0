//! Who writes to files, as far as `/proc` shows it: processes of other users are closed to an ordinary one.

use std::collections::HashMap;

use super::survey::{access, each_descriptor, file_id};
use super::survivors::FileId;
use super::tree::{self, ProcessEntry};

/// Returns the processes that have one of these files (device and inode) open for writing, or mapped for it: by file, one
/// of them as `node (4312)`. Blocks.
pub fn writers(files: &[(u64, u64)]) -> HashMap<(u64, u64), String> {
    let mut found = HashMap::new();
    for pid in tree::pids() {
        let mut see = |device: u64, inode: u64, is_same: fn(u64, u64) -> bool| {
            let meant = files.iter().filter(|file| file.1 == inode && is_same(file.0, device));
            for file in meant {
                let name = || ProcessEntry::read(pid).map_or_else(|| "a process".to_owned(), |it| it.name);
                found.entry(*file).or_insert_with(|| format!("{} ({pid})", name()));
            }
        };
        // It is another user's, or gone.
        let _ = each_descriptor(pid, |number, _, file| {
            let FileId { device, inode } = file_id(file);
            let is_meant = files.contains(&(device, inode));
            if is_meant && access(pid, number).is_some_and(|(_, writes, _)| writes) {
                see(device, inode, |own, device| own == device);
            }
        });
        let maps = tree::proc_file(pid, "maps").unwrap_or_default();
        for (device, inode) in maps.split(|byte| *byte == b'\n').filter_map(written_mapping) {
            // File systems without a device of their own name another one here.
            see(device, inode, |own, device| {
                own == device || rustix::fs::major(own) == 0 && rustix::fs::major(device) == 0
            });
        }
    }
    found
}

/// Reads a line such as `7f…-7f… rw-s 00000000 fe:00 4242   /path` of a mapping that writes to its file: the device and
/// the inode.
fn written_mapping(line: &[u8]) -> Option<(u64, u64)> {
    let text = String::from_utf8_lossy(line);
    let mut words = text.split_ascii_whitespace().skip(1);
    let flags = words.next()?.as_bytes();
    let (major, minor) = words.nth(1)?.split_once(':')?;
    let number = |hex: &str| u32::from_str_radix(hex, 16).ok();
    let device = rustix::fs::makedev(number(major)?, number(minor)?);
    let inode = words.next()?.parse().ok().filter(|inode| *inode != 0)?;
    (flags.get(1) == Some(&b'w') && flags.get(3) == Some(&b's')).then_some((device, inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_shared_writable_mapping_of_a_file_counts_as_a_writer() {
        let of = |line: &str| written_mapping(line.as_bytes());
        let device = rustix::fs::makedev(0xfe, 1);
        assert_eq!(of("7f00-7f10 rw-s 00000000 fe:01 4242    /a b"), Some((device, 4242)));
        for line in [
            "7f00-7f10 rw-p 0 fe:01 4242 /a",
            "7f00-7f10 r--s 0 fe:01 4242 /a",
            "7f00-7f10 rw-s 0 00:00 0",
            "",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
