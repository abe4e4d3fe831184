//! The models from outside: requests in, replies out.

mod extraction;
mod faults;
mod many;
mod material;
mod metamorphic;
mod profiles;
mod properties;
mod server;
mod sessions;
mod shapes;
