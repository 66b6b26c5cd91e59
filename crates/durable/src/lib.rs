//! Files that survive a crash: replaced as a whole or not at all, or appended to line by line, under a lock.
//!
//! ```
//! use durable::{Disk, lines};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! // The prefix of unfinished files tells whose they are. Private files are readable by their owner alone.
//! let disk = Disk::private(".example-");
//! let _lock = disk.lock(&folder.join("lock"))?;
//! disk.sweep(folder);
//!
//! // After a crash `state.json` is the old file or the new one.
//! disk.replace(&folder.join("state.json"), b"{}\n")?;
//!
//! // After a crash a journal holds whole lines and at most one part, which the next opening cuts off.
//! let path = folder.join("journal.jsonl");
//! std::fs::write(&path, "one\ntw")?;
//! let (mut journal, tail) = disk.open_append(&path)?;
//! assert_eq!(tail.torn, b"tw");
//! journal.append_synced(b"two\n")?;
//!
//! let lines: Vec<_> = lines(std::fs::read(&path)?.as_slice()).collect::<Result<_, _>>()?;
//! assert_eq!((lines[1].number, lines[1].offset, lines[1].text()), (2, 4, &b"two"[..]));
//!
//! // The last lines are read without those before them.
//! let mut newest = durable::tail(std::fs::File::open(&path)?)?;
//! assert_eq!(newest.next().transpose()?.unwrap().text(), b"two");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! **The one decision.** How files are written belongs to their owner, not to the single call: a [`Disk`] says it once.
//! Errors are those of the system, without paths: the owner knows the path and has the words for its users.
//!
//! Files in a folder that others made are written by [`Disk::inside`], which refuses links.
//!
//! Next: [`Disk`], [`StagedFile`], [`AppendFile`], [`Lock`]. With feature `archive` a `Disk` also moves old lines to packed
//! files.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod append;
#[cfg(feature = "archive")]
mod archive;
mod disk;
mod lines;
mod lock;
mod replace;
mod tail;

pub use append::{AppendFile, Replaced, Tail, whole_lines};
pub use disk::{Disk, Linked, is_at};
#[cfg(feature = "faults")]
pub use disk::{Step, Watch};
pub use lines::{Line, lines};
pub use lock::{Lock, LockError};
pub use replace::{StagedFile, replace};
pub use tail::{TailLines, tail};
