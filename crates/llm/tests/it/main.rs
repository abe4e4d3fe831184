//! The models from outside: requests in, replies out.

mod cassette;
mod client;
mod extraction;
mod faults;
mod many;
mod material;
mod metamorphic;
mod profiles;
mod properties;
mod real;
mod server;
mod sessions;
mod shapes;
