//! The mock and the faults from outside: requests in, replies out.

mod extraction;
mod faults;
mod many;
mod material;
mod metamorphic;
mod profiles;
mod properties;
mod sessions;
mod shapes;
