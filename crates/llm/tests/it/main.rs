//! The models from outside: requests in, replies out.

mod faults;
mod many;
mod material;
mod metamorphic;
mod properties;
mod sessions;
mod shapes;
