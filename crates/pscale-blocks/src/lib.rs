//! Read, write, grow, store and project `{decimal, tree}` blocks.
//!
//! A block is a tree of texts with digits as addresses. A person can read it in a file, a model can find its way in it, and both
//! can add to it for years. Nine entries make a group. A full group is summed up in one text above it, and the block grows by a
//! level.
//!
//! ```
//! use pscale_blocks::layer::aperture;
//! use pscale_blocks::{
//!     Appended, BlockName, BlockStore as _, Applied, Block, Heuristic, MemStore, Op, EditAuthor, Stamp, Summary,
//!     SummaryKind,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stamp = Stamp::new("2026-11-22T12:00:00Z".parse()?, EditAuthor::Person);
//! let store = MemStore::new(); // or one in a directory, which survives kill -9
//! let memory: BlockName = "memory".parse()?;
//! store.create(&memory, &Block::new("Log of a ferry."), &stamp)?;
//!
//! // Nine crossings find a place each. The tenth asks for a summary of the nine.
//! let append = |text: String, summary| store.edit(&memory, None, &Op::Append { text, summary }, &stamp);
//! for number in 1..=9 {
//!     append(format!("Crossing {number}."), None)?;
//! }
//! let asked = append("Crossing 10.".into(), None)?;
//! let Some(Applied::Appended(Appended::NeedsSummary { entries, grows: true, .. })) = asked.applied else {
//!     unreachable!("nine are full");
//! };
//! assert_eq!(entries.len(), 9);
//! let summary = Summary { kind: SummaryKind::Summary, text: "Nine calm crossings.".into() };
//! append("Crossing 10.".into(), Some(summary))?;
//!
//! // It has grown: the head keeps its place and its text, and what was at 0.3 is at 0.1.3.
//! let block = store.load(&memory)?.block;
//! assert_eq!(block.decimal(), 2);
//! assert_eq!(block.head_text(), Some("Log of a ferry."));
//! assert_eq!(block.text(&"0.1.3".parse()?)?, Some("Crossing 3."));
//!
//! // The part for a model, in at most 60 tokens. The whole is a file that `Block::parse` reads.
//! let layer = aperture(&block, &memory, 60, &Heuristic, &|_| String::new());
//! assert_eq!(layer.text.lines().nth(2), Some("0.1 Nine calm crossings."));
//! assert_eq!(Block::parse(&block.to_file())?, *block);
//! # Ok(())
//! # }
//! ```
//!
//! **The one decision.** An edit is data: an [`Op`] goes in, and a [`Change`] comes out with its [`Inverse`]. A store is a log of
//! these pairs with the block they lead to, so that undo, redo and the repair after a crash are the same few lines. A person, a
//! model and an import edit a block by the same seven operations. An operation that fails has changed nothing.
//!
//! All text from outside is read strictly ([`Block::parse`]: every problem with its node) or leniently
//! ([`Block::parse_lenient`]: each dropped part is reported). Limits hold after every edit and are checked without a walk. The
//! crate reads no environment, clock or terminal: time, names and the counter of tokens are passed in.
//!
//! Next: [`Block`] for reading and editing, [`Path`] for addresses, [`BlockStore`] for stores and [`store`] for their logs,
//! [`layer::aperture`] and [`layer::render_outline`] for the text that a model sees, [`bundle`] for export and import.
//!
//! `DESIGN.md` of the package has the design decisions with their reasons.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod block;
pub mod bundle;
mod error;
pub mod layer;
mod name;
mod path;
pub mod store;
mod tokens;

pub use block::{
    Appended, Applied, Block, BlockExcerpt, Change, CutBlock, Grown, Hit, Inverse, Lint, LintKind,
    MAX_DECIMAL, MAX_FILE, MAX_NODES, MAX_TEXT, NodeDiff, NodeLine, NodeView, Op, Summary,
    SummaryKind, render_json,
};
pub use error::{BlockError, FormatErrors, Issue};
pub use name::{BlockName, NameError};
pub use path::{MAX_DEPTH, Path, PathError};
pub use store::block_store::BlockStore;
pub use store::dir::DirStore;
pub use store::error::StoreError;
pub use store::log::{EditAuthor, Stamp};
pub use store::mem::MemStore;
#[cfg(feature = "tiktoken")]
pub use tokens::O200k;
pub use tokens::{Heuristic, TokenCounter};
