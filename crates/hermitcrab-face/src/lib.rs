//! The face of a hermitcrab: compiles the shell that a model wrote, and carries it, sandboxed, to a browser.
//!
//! ```
//! use std::sync::Arc;
//!
//! use hermitcrab_face::jsx::{OxcCompiler, compile_shell};
//! use hermitcrab_face::{FaceConfig, FaceServer, NoKeys, Runtime, WebHost};
//! use hermitcrab_kernel::{Kernel, OfflineBrain};
//! use pscale_blocks::MemStore;
//! use tokio_util::sync::CancellationToken;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! // The compiler alone: a reply of a model goes in, a script comes out, or every fault with its line.
//! let reply = "My face:\n```jsx\nfunction App(props) {\n  return <h1>{prosp.model}</h1>;\n}\n```";
//! let faults = compile_shell(reply).unwrap_err();
//! assert_eq!((faults[0].kind.as_str(), faults[0].line), ("undefined_name", Some(4)));
//!
//! // The host is made first: the kernel shows its faces on it.
//! let host = WebHost::default();
//! let kernel = Kernel::builder(Arc::new(MemStore::new()), Arc::new(OfflineBrain))
//!     .compiler(Arc::new(OxcCompiler))
//!     .host(Arc::new(host.clone()))
//!     .open()?;
//! let mut config = FaceConfig::default();
//! config.version = "1".to_owned();
//! let server = FaceServer::bind(kernel, host, Arc::new(NoKeys), config).await?;
//! println!("open {}", server.url());
//! // It runs until this fires; the model wakes when the first page is there.
//! let end = CancellationToken::new();
//! # end.cancel();
//! server.run(end, std::future::ready(None)).await;
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! **The one decision.** A shell is an untrusted program. It runs in a frame with a separate origin, which may load one script and
//! reach nothing else. It can only ask the page around it, by the props of its contract. The page does what
//! the person allows, the server does what the kernel allows, and both check everything again. So a shell can be wrong in any
//! way, and the person still has the bar, the face before, and a face that always works.
//!
//! The crate reads no environment and no home directory. Time is tokio's, for limits only; no result depends on it.
//!
//! Next: [`jsx`] for the JSX that a model may write, [`WebHost`] and [`FaceServer`] for showing it, [`Keys`] for the
//! keys that a page may give, [`Runtime`] for the runtime of a shell, [`ReactSources`] for React, [`mcp_app_document`] for
//! a face in another program.
//!
//! `DESIGN.md` of the package has the design decisions with their reasons.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod app;
mod error;
pub mod jsx;
mod message;
mod page;
mod runtime;
mod server;
mod session;
mod token;

pub use app::{Keys, NoKeys};
pub use error::FaceError;
pub use page::mcp_app_document;
pub use runtime::{
    BuiltinReason, Installer, ProcessGroup, ReactSources, ReactStatus, Runtime, RuntimeError,
};
pub use server::{FaceConfig, FaceServer, Patience};
pub use session::{HostLimits, WebHost};
