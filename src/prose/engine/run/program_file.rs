//! Safe reading and writing of program files: a named pipe never blocks the reader, a file never exhausts the memory,
//! no link leads out of its folder, and a reader sees either the old or the new text while it is being replaced.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::files::{self, FileAccess, Links};
use crate::prose::syntax::SourceText;

/// Reads a program's text.
///
/// # Errors
/// Why it cannot be read: it is not a regular file, is too long, or is not text.
pub fn read_text(path: &Path) -> Result<String, String> {
    let bytes = files::read(path, Links::Within, SourceText::LIMIT_BYTES as u64);
    to_text(bytes.map_err(|error| error.to_string())?)
}

/// Decodes bytes as the text of a program.
///
/// # Errors
/// Where they are not valid UTF-8.
pub fn to_text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        format!("it is not UTF-8: the byte {} begins no character", error.utf8_error().valid_up_to() + 1)
    })
}

/// Replaces a file's text atomically; its mode is kept, and a symlink to it stays one.
///
/// # Errors
/// When it cannot be written, or a link leads out of its folder; it is then left as it was.
pub fn replace_text(path: &Path, text: &str) -> io::Result<()> {
    files::open(path, Links::Within, FileAccess::Read)?;
    let path = path.canonicalize()?;
    let mode = path.metadata()?.permissions().mode() & 0o7777;
    files::replace(&path, |file| {
        file.write_all(text.as_bytes())?;
        file.set_permissions(Permissions::from_mode(mode))?;
        file.sync_all()
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn f47_only_a_regular_file_of_some_length_is_read() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = |name: &str| dir.path().join(name);
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), kind, mode, 0).expect("a named pipe");
        assert_eq!(read_text(&path("pipe")), Err("it is not a regular file".to_owned()));
        assert_eq!(read_text(dir.path()), Err("it is a folder".to_owned()));
        assert_eq!(read_text(Path::new("/dev/zero")), Err("it is not a regular file".to_owned()));
        // Sparse: larger than any memory could hold.
        let huge = fs::File::create(path("huge")).expect("a file");
        huge.set_len(1 << 40).expect("grown");
        assert!(read_text(&path("huge")).is_err_and(|why| why.contains("longer than")));
        fs::write(path("broken"), b"ab\xff").expect("written");
        assert!(read_text(&path("broken")).is_err_and(|why| why.contains("byte 3")));
        std::os::unix::fs::symlink("/etc/hosts", path("out")).expect("linked");
        assert!(read_text(&path("out")).is_err_and(|why| why.contains("out of its folder")));
        fs::write(path("p"), "exec \"true\"\n").expect("written");
        assert_eq!(read_text(&path("p")).as_deref(), Ok("exec \"true\"\n"));
    }

    #[test]
    fn f46_a_file_is_replaced_whole_with_its_mode_and_a_link_stays_one() {
        let dir = tempfile::tempdir().expect("temp dir");
        let (file, link) = (dir.path().join("p.prose"), dir.path().join("link.prose"));
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("set");
        std::os::unix::fs::symlink("p.prose", &link).expect("linked");
        let before = fs::File::open(&file).expect("opens");
        replace_text(&link, "new").expect("replaced");
        assert_eq!(fs::read_to_string(&file).expect("readable"), "new");
        assert_eq!(file.metadata().expect("there").permissions().mode() & 0o7777, 0o640);
        assert!(link.symlink_metadata().expect("there").is_symlink());
        // A reader that had it open still sees the old text.
        assert_eq!(io::read_to_string(before).expect("readable"), "old");
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 2, "nothing is left beside it");
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).expect("set");
        assert!(replace_text(&dir.path().join("nope"), "x").is_err());
        // Nothing outside is written through a link.
        let (inner, out) = (dir.path().join("inner"), dir.path().join("inner/out.prose"));
        fs::create_dir(&inner).expect("made");
        std::os::unix::fs::symlink(&file, &out).expect("linked");
        assert!(replace_text(&out, "other").is_err());
        assert_eq!(fs::read_to_string(&file).expect("readable"), "new");
    }
}
