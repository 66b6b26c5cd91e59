//! Methods that set one field of a struct in an expression, for structs that other crates cannot write as a literal.

/// Defines a method for each field that sets it and returns the struct.
macro_rules! setters {
    ($($field:ident: $type:ty,)*) => {$(
        #[doc = concat!("Sets `", stringify!($field), "`.")]
        #[must_use]
        pub fn $field(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    )*};
}

pub(crate) use setters;
