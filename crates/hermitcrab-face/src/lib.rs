//! The face of a hermitcrab: compile the shell that a model wrote, and carry it, sandboxed, to a browser.

mod desk;
mod error;
mod hub;
pub mod jsx;
mod keys;
mod log;
mod message;
mod methods;
mod page;
mod rate;
mod runtime;
mod server;
mod token;

pub use error::FaceError;
pub use hub::{HostLimits, WebHost};
pub use jsx::{OxcCompiler, compile_shell, source_place};
pub use keys::{Keys, NoKeys};
pub use runtime::{Npm, Runtime, RuntimeError};
pub use server::{FaceConfig, FaceServer};
