//! Listening sockets in the kernel's tables below `/proc`: where netlink is refused, and of other network namespaces.

use crate::model::ListenAddress;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use super::{ListeningSocket, MOST_SOCKETS, unix_path};

/// The most bytes read of one table.
const MOST_BYTES: u64 = 8 << 20;
/// The state of a TCP socket that accepts connections, and the flags of such a unix socket.
const LISTEN: &str = "0A";
const ACCEPTS: u32 = 0x1_0000;

/// Returns every listening socket of the network namespace whose tables are in `folder` (`/proc/self/net`): TCP, and
/// unix sockets with a path.
///
/// # Errors
/// If the tables of TCP cannot be read.
pub(super) fn listening(folder: &Path) -> io::Result<Vec<ListeningSocket>> {
    let mut sockets = read_tcp(folder)?;
    if let Ok(table) = read(&folder.join("unix")) {
        sockets.extend(table.split(|byte| *byte == b'\n').filter_map(unix));
    }
    sockets.truncate(MOST_SOCKETS);
    Ok(sockets)
}

/// Returns the listening TCP sockets alone.
///
/// # Errors
/// If the table cannot be read.
pub(super) fn read_tcp(folder: &Path) -> io::Result<Vec<ListeningSocket>> {
    let mut table = read(&folder.join("tcp"))?;
    // Missing where the kernel has no IPv6.
    table.extend(read(&folder.join("tcp6")).unwrap_or_default());
    let text = String::from_utf8_lossy(&table);
    Ok(text.lines().filter_map(tcp).take(MOST_SOCKETS).collect())
}

fn read(table: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(table)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Parses a line of `tcp` or `tcp6`: number, local and remote address, state, … and in field 10 the inode.
fn tcp(line: &str) -> Option<ListeningSocket> {
    let mut fields = line.split_ascii_whitespace();
    let local = fields.nth(1)?;
    if fields.nth(1)? != LISTEN {
        return None;
    }
    let inode = fields.nth(5)?.parse().ok()?;
    let (ip, port) = local.split_once(':')?;
    let at = SocketAddr::new(address(ip)?, u16::from_str_radix(port, 16).ok()?);
    Some(ListeningSocket { inode, at: ListenAddress::Tcp(at), group: None })
}

/// Parses an address: numbers of 32 bits in hexadecimal digits, each in this machine's order of bytes.
fn address(digits: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let number = u32::from_str_radix(digits.get(at * 8..at * 8 + 8)?, 16).ok()?;
        Some(number.to_ne_bytes())
    };
    match digits.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let bytes = [word(0)?, word(1)?, word(2)?, word(3)?].concat();
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into())
        }
        _ => None,
    }
}

/// Parses a line of `unix`: address, counter, protocol, flags, type, state, inode, path.
fn unix(line: &[u8]) -> Option<ListeningSocket> {
    let path = memchr::memmem::find(line, b" /")?;
    let fields = std::str::from_utf8(line.get(..path)?).ok()?;
    let mut fields = fields.split_ascii_whitespace();
    let flags = u32::from_str_radix(fields.nth(3)?, 16).ok()?;
    let inode = fields.nth(2)?.parse().ok()?;
    let at = unix_path(line.get(path + 1..)?)?;
    (flags & ACCEPTS != 0).then_some(ListeningSocket { inode, at, group: None })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn lines_are_read_and_only_those_of_listening_sockets() {
        let line = "   1: 0100007F:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0 100 0 0 10 0";
        let found = tcp(line).expect("listens");
        assert_eq!((found.inode, found.at.to_string().as_str()), (4242, "127.0.0.1:5173"));
        assert_eq!(tcp(&line.replace(" 0A ", " 01 ")), None);
        let six = line.replace("0100007F:", "00000000000000000000000001000000:");
        assert_eq!(tcp(&six).expect("listens").at.to_string(), "[::1]:5173");
        let unix_line = b"0000000000000000: 00000002 00000000 00010000 0001 01 4343 /run/a b.sock";
        let found = unix(unix_line).expect("listens");
        assert_eq!((found.inode, found.at.to_string().as_str()), (4343, "unix:/run/a b.sock"));
        assert_eq!(unix(b"0000000000000000: 00000003 00000000 00000000 0001 03 4344 /run/a.sock"), None);
        assert_eq!(unix(b"0000000000000000: 00000002 00000000 00010000 0001 01 4345 @abstract"), None);
    }

    #[test]
    fn a_socket_of_this_process_is_in_the_tables() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
        let at = ListenAddress::Tcp(socket.local_addr().expect("an address"));
        let found = listening(Path::new("/proc/self/net")).expect("readable");
        assert!(found.iter().any(|found| found.at == at));
    }

    proptest! {
        #[test]
        fn parsing_any_line_of_a_socket_table_never_panics(line in "\\PC{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (tcp(&line), unix(line.as_bytes()), unix(&bytes));
        }
    }
}
