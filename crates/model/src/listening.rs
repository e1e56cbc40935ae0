//! What a task listens on. Pure.

use serde::{Deserialize, Serialize};

use crate::ListenAddress;

/// The most addresses shown for one task.
pub const MOST_LISTENERS: usize = 64;
/// The maximum length of a printed path in a URL, in characters.
const PATH_CHARS: usize = 200;

/// An address at which a task accepts connections. That it listens does not say that it is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// Where.
    pub at: ListenAddress,
    /// A URL that may lead there: the one the task printed for this port, or else that of the port. `None` for what has
    /// no port on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Milliseconds from the task's start until it was seen to listen; it is looked for once a second.
    pub after_ms: u64,
}

/// Returns the URL of an address, with what the task printed for it in `output` (cleaned text): the last one counts.
/// `None` if the address has no port on this machine.
#[must_use]
pub fn url(at: &ListenAddress, output: &str) -> Option<String> {
    let (port, host) = (at.own_port()?, at.host()?);
    let printed = output.rmatch_indices("://").find_map(|(mark, _)| parse_url(output, mark, port, &host));
    Some(printed.unwrap_or_else(|| format!("http://{host}:{port}")))
}

/// Parses the URL around a `://`, if it leads to this port of this machine. Its query may hold a secret and is left out.
fn parse_url(output: &str, mark: usize, port: u16, host: &str) -> Option<String> {
    let before = output.get(..mark)?;
    let scheme = ["https", "http"].into_iter().find(|scheme| before.ends_with(scheme))?;
    let rest = output.get(mark + "://".len()..)?;
    let (named, rest) = rest.split_once(&format!(":{port}"))?;
    let is_own = named == host || matches!(named, "localhost" | "127.0.0.1" | "[::1]" | "0.0.0.0" | "[::]");
    let is_whole = !rest.starts_with(|next: char| next.is_ascii_digit());
    if !is_own || !is_whole {
        return None;
    }
    let is_path = |c: &char| c.is_ascii_alphanumeric() || "/-._~%+@:,;=&!$*".contains(*c);
    let path: String = rest.chars().take_while(is_path).take(PATH_CHARS).collect();
    let path = if path.starts_with('/') { path.trim_end_matches(['.', ',', ';', ':']) } else { "" };
    let named = if matches!(named, "0.0.0.0" | "[::]") { host } else { named };
    Some(format!("{scheme}://{named}:{port}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(at: &str, output: &str) -> Option<String> {
        url(&at.parse().expect("an address"), output)
    }

    #[test]
    fn the_url_of_a_listener_is_the_one_that_its_task_printed_for_the_port() {
        let vite = "  Local:   http://localhost:5173/app/\n  Network: http://10.0.0.2:5173/\n";
        assert_eq!(of("127.0.0.1:5173", vite).as_deref(), Some("http://localhost:5173/app/"));
        assert_eq!(of("10.0.0.2:5173", vite).as_deref(), Some("http://10.0.0.2:5173/"));
        let python = "Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/) ...";
        assert_eq!(of("0.0.0.0:8000", python).as_deref(), Some("http://localhost:8000/"));
        let secure = "ready on https://[::1]:8443/a.";
        assert_eq!(of("[::1]:8443", secure).as_deref(), Some("https://[::1]:8443/a"));
        let secret = "http://localhost:8888/tree?token=0123";
        assert_eq!(of("127.0.0.1:8888", secret).as_deref(), Some("http://localhost:8888/tree"));
    }

    #[test]
    fn a_printed_url_that_does_not_lead_to_the_listener_is_not_used() {
        for output in [
            "",
            "http://example.com:5173/",
            "http://localhost:51730/",
            "http://localhost/:5173",
            "http://user:pass@localhost:5173/",
            "ftp://localhost:5173/",
            "://localhost:5173",
            "http://\u{202e}localhost:5173/",
        ] {
            assert_eq!(of("127.0.0.1:5173", output).as_deref(), Some("http://localhost:5173"), "{output:?}");
        }
        assert_eq!(
            of("127.0.0.1:5173", "http://localhost:5173\u{1b}[2J").as_deref(),
            Some("http://localhost:5173")
        );
        assert_eq!(of("[::1]:5173", "").as_deref(), Some("http://[::1]:5173"));
        assert_eq!((of("unix:/a", ""), of("127.0.0.1:1 in container", "")), (None, None));
    }

    #[test]
    fn a_listener_in_words_says_since_when() {
        let at: ListenAddress = "127.0.0.1:5173".parse().expect("an address");
        let after = |after_ms| Listener { at: at.clone(), url: None, after_ms }.in_words();
        assert_eq!(after(1_234), "127.0.0.1:5173, seen after 1.2 s");
        assert_eq!(after(900), "127.0.0.1:5173, seen after 900 ms");
    }
}
