//! The models from outside: requests in, replies out.

mod cassette;
mod faults;
mod http;
mod real;
mod server;
mod server_compaction;
