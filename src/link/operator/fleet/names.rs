//! Names of places: the last folder of the workspace, made unique. Pure.

use std::path::Path;

/// Length limit of a name, in characters, without what makes it unique.
const MOST_CHARS: usize = 20;

/// Returns a name that no other place has: the workspace's last folder, prefixed with the host and followed by a
/// number if necessary. It contains no slash and no hidden characters.
pub(super) fn name(host: Option<&str>, workspace: &Path, is_taken: impl Fn(&str) -> bool) -> String {
    let folder = workspace.file_name().map(|name| name.to_string_lossy().into_owned());
    let folder = plain(folder.as_deref().unwrap_or_default());
    let base = match host {
        // A machine of which only the host name is known.
        Some(host) if workspace.as_os_str().is_empty() => plain(host),
        Some(host) => format!("{}:{folder}", plain(host)),
        None => folder,
    };
    let numbered = (2..).map(|number: u32| format!("{base}-{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or(base)
}

fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let kept: String = text.chars().take(MOST_CHARS).map(|c| if is_plain(c) { c } else { '-' }).collect();
    if kept.is_empty() { "place".to_owned() } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_called_by_its_folder_and_no_two_alike() {
        let free = |_: &str| false;
        assert_eq!(name(None, Path::new("/home/ana/web-fix"), free), "web-fix");
        assert_eq!(name(Some("box"), Path::new("/srv/web"), free), "box:web");
        assert_eq!(name(Some("ada@box"), Path::new(""), free), "ada-box");
        assert_eq!(name(None, Path::new("/"), free), "place");
        assert_eq!(name(None, Path::new("/w/a/b c\u{1b}[31m"), free), "b-c--31m");
        assert_eq!(name(None, Path::new(&format!("/{}", "x".repeat(99))), free).len(), MOST_CHARS);
        let taken = ["web", "web-2"];
        assert_eq!(name(None, Path::new("/b/web"), |name| taken.contains(&name)), "web-3");
    }
}
