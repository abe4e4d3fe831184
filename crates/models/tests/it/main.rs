//! The models from outside: requests in, replies out.

mod cassette;
mod client;
mod faults;
mod real;
mod server;
