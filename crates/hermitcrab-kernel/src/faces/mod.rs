//! The face that the model writes: compiler and host, kept shells, state, crashes.

mod crashes;
mod host;
mod kept_shells;
mod manager;
mod notes;
mod shell;
mod shells;
mod state;

pub use crashes::FaceRecovery;
pub use host::{Host, HostCall, HostError, HostSkills, Mounted, NoHost};
pub use kept_shells::KeptShells;
pub use manager::FaceManager;
pub(crate) use manager::NO_COMPILER;
pub(crate) use notes::Notes;
pub use shell::{CompiledShell, Need, Shell, ShellCompiler, ShellError, ShellInfo};
