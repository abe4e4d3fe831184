//! How a strategy declares its parameters.

/// Declares parameters and the struct that holds their values: `field: type = parameter, "what it
/// does";`.
macro_rules! parameters {
    ($(#[$attribute:meta])* $name:ident { $($field:ident: $type:ty = $param:expr, $about:literal;)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name {
            $(#[doc = $about] pub(crate) $field: $type,)*
        }

        impl $name {
            /// The parameters, in the order of lists.
            pub(crate) const PARAMS: &'static [$crate::strategy::params::Param] = &[
                $($crate::strategy::params::Param { name: stringify!($field), about: $about, ..$param },)*
            ];

            /// Their values.
            pub(crate) fn read(settings: &$crate::strategy::params::Settings) -> Self {
                $name { $($field: settings.read(&$crate::strategy::params::Param {
                    name: stringify!($field), about: $about, ..$param
                }),)* }
            }
        }
    };
}
pub(crate) use parameters;
