//! Asks the kernel for listening sockets over netlink (`NETLINK_SOCK_DIAG`): only those, in one pass for each family.

use crate::model::ListenAddress;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

use super::{ListeningSocket, MOST_SOCKETS, unix_path};

/// The state of a socket that accepts connections (`TCP_LISTEN`), as a bit.
const LISTEN: u32 = 1 << 10;
const TCP: u8 = 6;
/// `SOCK_DIAG_BY_FAMILY`, `NLMSG_ERROR`, `NLMSG_DONE`.
const BY_FAMILY: u16 = 20;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// `NLM_F_REQUEST | NLM_F_DUMP`, and `NLM_F_DUMP_INTR`: sockets changed meanwhile, so that some may be missing.
const DUMP: u16 = 0x301;
const TORN: u16 = 0x10;
/// `UDIAG_SHOW_NAME`.
const SHOW_NAME: u32 = 1;
/// The attributes `INET_DIAG_CGROUP_ID` and `UNIX_DIAG_NAME`.
const GROUP: u16 = 21;
const NAME: u16 = 0;
/// Sizes of `nlmsghdr`, `inet_diag_msg`, `unix_diag_msg`, `inet_diag_sockid`.
const HEADER: usize = 16;
const INET: usize = 72;
const UNIX: usize = 16;
const SOCKET_ID: usize = 48;
/// The kernel sends at most this many bytes in one message of a dump.
const PART: usize = 32 << 10;
/// Parts of a dump that are read.
const MOST_PARTS: usize = 256;
/// Waits for a part at most this long: the kernel answers at once.
const PATIENCE: Duration = Duration::from_secs(1);

/// Returns every listening socket of this network namespace: TCP, and unix sockets with a path. `None` if the answer
/// may not be whole.
///
/// # Errors
/// If the kernel refuses to answer.
pub(super) fn listening() -> io::Result<Option<Vec<ListeningSocket>>> {
    let kind = Some(netlink::SOCK_DIAG);
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, kind)?;
    set_socket_timeout(&kernel, Timeout::Recv, Some(PATIENCE))?;
    let (mut part, mut sockets) = (vec![0; PART], Vec::new());
    for request in [tcp(AddressFamily::INET), tcp(AddressFamily::INET6), unix()] {
        if !dump(&kernel, &request, &mut part, &mut sockets)? {
            return Ok(None);
        }
    }
    Ok(Some(sockets))
}

/// Sends a request and reads its whole answer, in parts; returns whether that is complete.
fn dump(
    kernel: &OwnedFd,
    request: &[u8],
    part: &mut [u8],
    sockets: &mut Vec<ListeningSocket>,
) -> io::Result<bool> {
    send(kernel, request, SendFlags::empty())?;
    for _ in 0..MOST_PARTS {
        let (_, length) = recv(kernel, &mut *part, RecvFlags::TRUNC)?;
        let Some(bytes) = part.get(..length) else { return Ok(false) };
        match decode(bytes, sockets)? {
            DumpPart::More if sockets.len() < MOST_SOCKETS => {}
            DumpPart::More | DumpPart::Torn => return Ok(false),
            DumpPart::Last => return Ok(true),
        }
    }
    Ok(false)
}

fn tcp(family: AddressFamily) -> Vec<u8> {
    let family = u8::try_from(family.as_raw()).unwrap_or_default();
    let mut body = vec![family, TCP, 0, 0];
    body.extend(LISTEN.to_ne_bytes());
    body.extend([0; SOCKET_ID]);
    request(&body)
}

fn unix() -> Vec<u8> {
    let family = u8::try_from(AddressFamily::UNIX.as_raw()).unwrap_or_default();
    let mut body = vec![family, 0, 0, 0];
    body.extend(LISTEN.to_ne_bytes());
    body.extend(0_u32.to_ne_bytes());
    body.extend(SHOW_NAME.to_ne_bytes());
    body.extend([0; 8]);
    request(&body)
}

fn request(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER + body.len()).unwrap_or_default();
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(body);
    bytes
}

/// What follows a part of an answer.
#[derive(Debug, PartialEq, Eq)]
enum DumpPart {
    More,
    Last,
    /// Sockets changed while the kernel answered.
    Torn,
}

/// Decodes a part of an answer.
///
/// # Errors
/// If it reports one, or is none.
fn decode(mut bytes: &[u8], sockets: &mut Vec<ListeningSocket>) -> io::Result<DumpPart> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    while !bytes.is_empty() {
        let length = u32_at(bytes, 0).and_then(|length| usize::try_from(length).ok()).ok_or_else(invalid)?;
        let (kind, flags) = u16_at(bytes, 4).zip(u16_at(bytes, 6)).ok_or_else(invalid)?;
        let body = bytes.get(HEADER..length).ok_or_else(invalid)?;
        if flags & TORN != 0 {
            return Ok(DumpPart::Torn);
        }
        match kind {
            // Both begin with a negative error number, or 0.
            DONE | ERROR => match u32_at(body, 0).map_or(0, u32::cast_signed) {
                0 => return Ok(DumpPart::Last),
                error => return Err(io::Error::from_raw_os_error(error.saturating_neg())),
            },
            BY_FAMILY => sockets.extend(socket(body)),
            _ => {}
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(DumpPart::More)
}

/// Decodes one socket; `None` if it has no address that can be named.
fn socket(body: &[u8]) -> Option<ListeningSocket> {
    let family = u16::from(*body.first()?);
    if family == AddressFamily::UNIX.as_raw() {
        let inode = u32_at(body, 4)?.into();
        let name = attribute(body.get(UNIX..)?, NAME)?;
        return Some(ListeningSocket { inode, at: unix_path(name)?, group: None });
    }
    let port = u16::from_be_bytes(body.get(4..6)?.try_into().ok()?);
    let ip = if family == AddressFamily::INET.as_raw() {
        IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(body.get(8..12)?).ok()?))
    } else if family == AddressFamily::INET6.as_raw() {
        IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(body.get(8..24)?).ok()?))
    } else {
        return None;
    };
    let inode = u32_at(body, INET - 4)?.into();
    let group =
        attribute(body.get(INET..)?, GROUP).and_then(|id| Some(u64::from_ne_bytes(id.try_into().ok()?)));
    Some(ListeningSocket { inode, at: ListenAddress::Tcp(SocketAddr::new(ip, port)), group })
}

/// Returns the value of an attribute.
fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16_at(bytes, 0)?);
        let value = bytes.get(4..length)?;
        if u16_at(bytes, 2)? == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = u32::try_from(HEADER + body.len()).expect("short").to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn attribute_of(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = u16::try_from(4 + value.len()).expect("short").to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn inet(family: AddressFamily, ip: &[u8], port: u16, inode: u32, group: u64) -> Vec<u8> {
        let mut body = vec![0; INET];
        body[0] = u8::try_from(family.as_raw()).expect("a family");
        body[4..6].copy_from_slice(&port.to_be_bytes());
        body[8..8 + ip.len()].copy_from_slice(ip);
        body[INET - 4..].copy_from_slice(&inode.to_ne_bytes());
        body.extend(attribute_of(11, &[1]));
        body.extend(attribute_of(GROUP, &group.to_ne_bytes()));
        body
    }

    fn decoded(bytes: &[u8]) -> (io::Result<DumpPart>, Vec<ListeningSocket>) {
        let mut sockets = Vec::new();
        (decode(bytes, &mut sockets), sockets)
    }

    #[test]
    fn sockets_are_read_with_address_port_inode_and_group() {
        let mut answer = message(BY_FAMILY, 2, &inet(AddressFamily::INET, &[127, 0, 0, 1], 5_173, 7, 99));
        answer.extend(message(
            BY_FAMILY,
            2,
            &inet(AddressFamily::INET6, &Ipv6Addr::LOCALHOST.octets(), 80, 8, 1),
        ));
        let mut unix = vec![0; UNIX];
        (unix[0], unix[4]) = (1, 9);
        unix.extend(attribute_of(NAME, b"/run/a.sock\0"));
        answer.extend(message(BY_FAMILY, 2, &unix));
        answer.extend(message(DONE, 2, &[0; 4]));
        let (part, sockets) = decoded(&answer);
        assert_eq!(part.expect("whole"), DumpPart::Last);
        let seen: Vec<_> =
            sockets.iter().map(|found| (found.inode, found.at.to_string(), found.group)).collect();
        let expected =
            [(7, "127.0.0.1:5173", Some(99)), (8, "[::1]:80", Some(1)), (9, "unix:/run/a.sock", None)];
        assert_eq!(seen, expected.map(|(inode, at, group)| (inode, at.to_owned(), group)));
    }

    #[test]
    fn an_answer_that_is_not_whole_or_refused_is_told_from_one_that_is() {
        assert_eq!(decoded(&message(DONE, TORN, &[0; 4])).0.expect("read"), DumpPart::Torn);
        assert_eq!(decoded(&message(BY_FAMILY, 2, &[])).0.expect("read"), DumpPart::More);
        let refused = decoded(&message(ERROR, 0, &(-13_i32).to_ne_bytes())).0.expect_err("refused");
        assert_eq!(refused.raw_os_error(), Some(13));
        for short in [&[1, 0, 0][..], &message(BY_FAMILY, 2, &[0; 80])[..40], &[0; 16]] {
            assert!(decoded(short).0.is_err(), "{short:?}");
        }
    }

    proptest! {
        #[test]
        fn decoding_any_netlink_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decoded(&bytes);
            let _ = decoded(&message(BY_FAMILY, 2, &bytes));
        }

        #[test]
        fn a_cut_answer_never_names_another_socket(cut in 0..104usize) {
            let whole = message(BY_FAMILY, 2, &inet(AddressFamily::INET, &[10, 0, 0, 1], 80, 7, 99));
            let (_, sockets) = decoded(&whole[..cut.min(whole.len())]);
            prop_assert!(sockets.is_empty() || cut >= whole.len());
        }
    }

    #[test]
    fn a_socket_of_this_process_is_reported_unless_netlink_is_refused() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
        let at = ListenAddress::Tcp(socket.local_addr().expect("an address"));
        // Sockets may change during a pass: another test opens some.
        for _ in 0..100 {
            match listening() {
                Ok(Some(found)) => return assert!(found.iter().any(|found| found.at == at)),
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }
}
