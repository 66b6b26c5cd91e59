//! The building blocks of a page: its frame, and the texts, numbers, links and data in it.

pub(crate) mod anchor;
pub(crate) mod cell;
pub(crate) mod embed;
pub(crate) mod frame;
pub(crate) mod number;
pub(crate) mod status;
pub(crate) mod text;
