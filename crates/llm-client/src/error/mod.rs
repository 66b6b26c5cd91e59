//! The parts of an [`ErrorKind`](crate::ErrorKind), and the errors of parsers.

pub(crate) mod call;
pub(crate) mod config;
pub(crate) mod kind;
mod parts;

pub use llm_types::{UnknownClass, UsdError};
pub use parts::{Amount, ConnectPhase, TimeoutPhase, UnavailableModel};
