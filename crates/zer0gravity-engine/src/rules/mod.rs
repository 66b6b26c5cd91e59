//! Rules that a machine can follow: checked, and followed without a model.

pub mod codec;
pub mod lint;
pub(crate) mod offline;
