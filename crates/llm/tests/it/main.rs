//! The mock from outside: requests in, replies out.

mod material;
mod metamorphic;
mod properties;
mod shapes;
