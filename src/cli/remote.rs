//! Other machines, as this user names them.

use std::path::Path;

use super::print;
use super::program_start::ProgramStart;
use super::surroundings::password_field;
use crate::config::LoadedSettings;
use crate::link::{Error, RemoteHost, private_folder};

/// A path on another machine, as it is typed: `box:/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    pub(super) host: String,
    pub(super) place: String,
}

impl Destination {
    /// Parses `HOST:/path`, `HOST:~/path` or `HOST:ID`; returns `None` if the place is missing.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, place) = text.split_once(':')?;
        let is_place = place.starts_with(['/', '~']) || is_id(place);
        (!host.is_empty() && is_place).then(|| Self { host: host.to_owned(), place: place.to_owned() })
    }
}

/// Returns the host with this name.
///
/// # Errors
/// When the name is not that of a host.
pub(super) fn host(start: &ProgramStart, name: &str) -> Result<RemoteHost, Error> {
    let places = &start.places;
    // A host from the OpenSSH configuration needs no settings.
    let hosts = match LoadedSettings::read(&places.config_dir, &places.workspace) {
        Ok(loaded) => loaded.settings.hosts,
        Err(error) => {
            let _ = print::say(format!(
                "{name} is taken as an OpenSSH host, since the settings cannot be read: {error:#}"
            ));
            Default::default()
        }
    };
    let run = places.runtime_dir.parent().unwrap_or(&places.runtime_dir);
    // Without a private folder for its socket, there is no OpenSSH master connection.
    let run = private_folder(run, 0o022).map_or(Path::new(""), |()| run);
    RemoteHost::from_name(name, &hosts, run, &format!("{}@{}", user(), machine()))
}

/// Returns this machine's own name.
pub(super) fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// Returns the name of this user.
fn user() -> String {
    password_field(0).unwrap_or_else(|| format!("uid {}", rustix::process::geteuid().as_raw()))
}

/// Returns whether a text has the form of a workspace id: 12 hexadecimal digits.
fn is_id(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_a_host_and_a_path_or_an_id() {
        let parse = |text| Destination::parse(text).map(|to| (to.host, to.place));
        let some = |host: &str, place: &str| Some((host.to_owned(), place.to_owned()));
        assert_eq!(parse("box:/a b:c"), some("box", "/a b:c"));
        assert_eq!(parse("ada@box:~/p"), some("ada@box", "~/p"));
        assert_eq!(parse("box:0123456789ab"), some("box", "0123456789ab"));
        for none in ["box", "box:", "box:relative", ":/x", "/x"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
