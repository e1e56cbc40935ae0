//! Where a process accepts connections.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const IN_CONTAINER: &str = " in container";
const UNIX: &str = "unix:";

/// An address at which a process accepts connections.
///
/// In words: `127.0.0.1:5173`, `[::1]:5173`, `10.0.0.2:80 in container`, `unix:/run/app.sock`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListenAddress {
    /// A TCP address of this machine.
    Tcp(SocketAddr),
    /// A TCP address in a network namespace other than Pilothouse's.
    Contained(SocketAddr),
    /// The path of a unix socket.
    Unix(String),
}

impl ListenAddress {
    /// Returns the port; `None` for a unix socket.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Tcp(address) | Self::Contained(address) => Some(address.port()),
            Self::Unix(_) => None,
        }
    }

    /// Returns the word for its kind: `port`, `container` or `unix`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "port",
            Self::Contained(_) => "container",
            Self::Unix(_) => "unix",
        }
    }

    /// Returns the port if it is one of this machine.
    #[must_use]
    pub fn own_port(&self) -> Option<u16> {
        matches!(self, Self::Tcp(_)).then(|| self.port()).flatten()
    }

    /// Returns the host of a URL that leads to it from this machine; `None` if there is none.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        let Self::Tcp(address) = self else { return None };
        Some(match address.ip() {
            IpAddr::V6(Ipv6Addr::LOCALHOST) => "[::1]".to_owned(),
            IpAddr::V4(Ipv4Addr::LOCALHOST) => "localhost".to_owned(),
            ip if ip.is_unspecified() => "localhost".to_owned(),
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        })
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(out, "{address}"),
            Self::Contained(address) => write!(out, "{address}{IN_CONTAINER}"),
            Self::Unix(path) => write!(out, "{UNIX}{path}"),
        }
    }
}

impl FromStr for ListenAddress {
    type Err = core::net::AddrParseError;

    fn from_str(words: &str) -> Result<Self, Self::Err> {
        if let Some(path) = words.strip_prefix(UNIX) {
            return Ok(Self::Unix(path.to_owned()));
        }
        match words.strip_suffix(IN_CONTAINER) {
            Some(address) => address.parse().map(Self::Contained),
            None => words.parse().map(Self::Tcp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_back_from_its_words() {
        for words in ["127.0.0.1:5173", "[::1]:80", "0.0.0.0:1 in container", "unix:/run/a b in container"] {
            let address: ListenAddress = words.parse().expect("an address");
            assert_eq!(address.to_string(), words);
        }
        assert!("localhost:80".parse::<ListenAddress>().is_err());
    }

    #[test]
    fn a_host_leads_to_the_address_from_this_machine() {
        let host = |words: &str| words.parse::<ListenAddress>().expect("an address").host();
        for (words, expected) in [
            ("127.0.0.1:1", Some("localhost")),
            ("0.0.0.0:1", Some("localhost")),
            ("[::]:1", Some("localhost")),
            ("[::1]:1", Some("[::1]")),
            ("10.0.0.2:1", Some("10.0.0.2")),
            ("127.0.0.1:1 in container", None),
            ("unix:/a", None),
        ] {
            assert_eq!(host(words).as_deref(), expected, "{words}");
        }
    }
}
