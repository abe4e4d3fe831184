//! Both stores through their public interface, in this process and in others.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod disks;
mod kills;
mod memory;
#[cfg(all(target_os = "linux", feature = "sqlite"))]
mod read_only;
mod reloads;
mod rounds;
mod sessions;
mod sizes;
mod versions;
