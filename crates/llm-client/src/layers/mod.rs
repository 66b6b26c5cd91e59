//! What a call passes through on its way to the transport.

pub(crate) mod retry;
