//! What a program is connected to besides its model. Only Linux says so; elsewhere nothing is
//! found.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The other ends of the connections of a process and its children that are open or not closed yet,
/// but for `model`.
pub(crate) fn past(id: u32, model: &str) -> Vec<SocketAddr> {
    let sockets = family(id)
        .into_iter()
        .flat_map(sockets)
        .collect::<HashSet<_>>();
    if sockets.is_empty() {
        return Vec::new();
    }
    let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
        .map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let rows = tables
        .iter()
        .flat_map(|table| table.lines().skip(1))
        .filter_map(connected);
    rows.filter(|(peer, socket)| sockets.contains(*socket) && peer.to_string() != model)
        .map(|(peer, _)| peer)
        .collect()
}

/// A process and its children.
pub(crate) fn family(id: u32) -> Vec<u32> {
    let children =
        std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let children = children
        .split_whitespace()
        .filter_map(|child| child.parse().ok());
    std::iter::once(id)
        .chain(children.flat_map(family))
        .collect()
}

/// The sockets of a process, by their numbers.
fn sockets(id: u32) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{id}/fd"))
        .into_iter()
        .flatten()
        .flatten();
    let targets = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    let number = |target: std::path::PathBuf| {
        Some(
            target
                .to_str()?
                .strip_prefix("socket:[")?
                .strip_suffix(']')?
                .to_owned(),
        )
    };
    targets.filter_map(number).collect()
}

/// The other end of a row of the table of connections, and its socket, if it is one: established,
/// or closed by the other side only.
fn connected(row: &str) -> Option<(SocketAddr, &str)> {
    const STATES: [&str; 2] = ["01", "08"];
    let mut fields = row.split_whitespace().skip(2);
    let (peer, state) = (fields.next()?, fields.next()?);
    let socket = fields.nth(5)?;
    STATES.contains(&state).then_some((address(peer)?, socket))
}

/// An address as the table writes it: 32 bits at a time in the order of the machine, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let words = host
        .as_bytes()
        .chunks(8)
        .map(|word| u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok());
    let bytes = words
        .map(|word| Some(word?.to_ne_bytes()))
        .collect::<Option<Vec<_>>>()?
        .concat();
    let ip = match <[u8; 4]>::try_from(&bytes[..]) {
        Ok(four) => IpAddr::from(Ipv4Addr::from(four)),
        Err(_) => {
            IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[..]).ok()?)).to_canonical()
        }
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_connection_is_found_by_its_other_end() {
        let id = std::process::id();
        for host in ["127.0.0.1", "::1"] {
            let Ok(listener) = TcpListener::bind((host, 0)) else {
                continue;
            };
            let model = listener.local_addr().expect("an address");
            let other = TcpListener::bind((host, 0)).expect("another");
            let connected =
                TcpStream::connect(other.local_addr().expect("an address")).expect("it listens");
            // Both ends are in this process.
            let peer = connected.peer_addr().expect("its other end");
            // Other tests of this process have connections of their own.
            assert!(past(id, &model.to_string()).contains(&peer));
            assert!(!past(id, &peer.to_string()).contains(&peer));
        }
    }
}
