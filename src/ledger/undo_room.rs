//! Whether there is room for what an undo puts back, and whether it may be put there: found out before anything is
//! touched. Blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{Access, AtFlags, CWD, StatxAttributes, StatxFlags, access, statvfs, statx};
use rustix::process::geteuid;

use super::current_file::place;
use super::rights::FileRights;
use super::undo_plan::{UndoStep, UndoTarget, is_younger};
use crate::files::{HeldFolder, path_text};

/// Whether there is room for what is put back, once other files were removed.
pub(super) struct UndoRoom<'a> {
    pub(super) top: &'a Path,
    pub(super) began: Timestamp,
    pub(super) removed: BTreeSet<&'a Path>,
    /// The folders above files that are new.
    pub(super) made: BTreeSet<&'a Path>,
}

impl UndoRoom<'_> {
    /// Tells whether a file can be put back.
    pub(super) fn is_for(&self, path: &Path) -> bool {
        let kind =
            |path: &Path| std::fs::symlink_metadata(self.top.join(path)).map(|facts| facts.file_type());
        let is_free =
            |above: &Path| kind(above).map_or(true, |kind| kind.is_dir()) || self.removed.contains(above);
        let is_below = path.ancestors().skip(1).all(|above| above.as_os_str().is_empty() || is_free(above));
        is_below && kind(path).map_or(true, |kind| !kind.is_dir() || self.empties(path))
    }

    /// Tells whether a folder is gone once the files in it are removed.
    fn empties(&self, folder: &Path) -> bool {
        let Ok(entries) = std::fs::read_dir(self.top.join(folder)) else { return false };
        let paths: Vec<PathBuf> = entries.flatten().map(|entry| folder.join(entry.file_name())).collect();
        let is_removed = |path: &PathBuf| self.removed.contains(path.as_path()) || self.empties(path);
        // An empty one may be what an undo that was cut off has left, or anybody's.
        let is_ours = !paths.is_empty() || self.made.contains(folder);
        is_ours && paths.iter().all(is_removed) && is_younger(self.top, folder, self.began)
    }
}

/// Says why a file may not be taken out of its place, if one `is_there`, or one with these rights not be put into it.
pub(super) fn ban(
    top: &HeldFolder,
    path: &Path,
    is_there: bool,
    rights: Option<&FileRights>,
) -> Option<String> {
    let owner = rights.map(|rights| rights.owner).filter(|owner| *owner != geteuid().as_raw());
    if let Some(owner) = owner.filter(|_| !geteuid().is_root()) {
        return Some(format!("it belonged to another user ({owner}), to whom it cannot be given"));
    }
    let attributes = |path: &Path| {
        let facts = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS);
        facts.map_or(StatxAttributes::empty(), |facts| facts.stx_attributes)
    };
    let fixed = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
    let above = path.ancestors().skip(1).find_map(|above| top.folder(above).ok())?;
    let own = above.path(Path::new("."));
    if attributes(&own).intersects(fixed) {
        return Some("its folder is immutable".to_owned());
    }
    if let Err(error) = access(&own, Access::WRITE_OK | Access::EXEC_OK) {
        return Some(format!("its folder cannot be written to: {}", std::io::Error::from(error)));
    }
    let (folder, name) = place(top, path).ok().filter(|_| is_there)?;
    let own = attributes(&folder.path(name));
    let mounted = own.contains(StatxAttributes::MOUNT_ROOT).then_some("something is mounted there");
    own.intersects(fixed).then_some("it is immutable").or(mounted).map(str::to_owned)
}

/// Says for which files there is no room on the disk, all of them being there twice for a moment.
pub(super) fn shortage(top: &HeldFolder, steps: &[UndoStep]) -> Vec<String> {
    let (mut left, mut problems) = (BTreeMap::new(), Vec::new());
    for step in steps {
        let UndoTarget::File(bytes, _) = &step.to else { continue };
        // The folder in which it waits may not be there yet.
        let Some(above) = step.aside.ancestors().nth(2) else { continue };
        let free = left.entry(above).or_insert_with(|| free(top, above));
        let Some((bytes_left, block)) = free else { continue };
        let needed = (bytes.len() as u64).next_multiple_of((*block).max(1));
        match bytes_left.checked_sub(needed) {
            Some(rest) => *bytes_left = rest,
            None => problems.push(format!("{}: the disk has no room for it", path_text(&step.path))),
        }
    }
    problems
}

/// Returns how many bytes are free on the file system of a folder, and how many a block has; `None` if it does not say.
fn free(top: &HeldFolder, folder: &Path) -> Option<(u64, u64)> {
    let facts = statvfs(top.folder(folder).ok()?.path(Path::new("."))).ok()?;
    let blocks = if geteuid().is_root() { facts.f_bfree } else { facts.f_bavail };
    (facts.f_blocks > 0).then(|| (blocks.saturating_mul(facts.f_frsize), facts.f_frsize))
}
