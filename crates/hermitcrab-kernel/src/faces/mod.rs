//! The face that the model writes: what compiles and shows it, what is kept of it, what becomes of it.

mod crashes;
mod host;
mod kept;
mod notes;
mod shell;
mod state;
mod stub;

pub use crashes::FaceNext;
pub use host::{Host, HostCall, HostError, HostSkills, Mounted, NoHost};
pub(crate) use kept::Shells;
pub(crate) use notes::Notes;
pub use shell::{CompiledShell, Shell, ShellCompiler, ShellError, ShellInfo};
pub(crate) use state::{MAX_KEPT, State};
pub use stub::StubCompiler;
