//! Files that are replaced as a whole or not at all, and are on the disk when that is done.
//!
//! ```
//! use std::io::Write as _;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("state.json");
//! durable::replace(&path, b"{}\n")?;
//!
//! // A draft shows early whether a file can be written, and is removed if it is dropped.
//! let draft = durable::Draft::begin(&path)?;
//! draft.file().write_all(b"[1]\n")?;
//! assert_eq!(std::fs::read(&path)?, b"{}\n");
//! draft.keep()?;
//! assert_eq!(std::fs::read(&path)?, b"[1]\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod draft;

pub use draft::{Draft, replace};
