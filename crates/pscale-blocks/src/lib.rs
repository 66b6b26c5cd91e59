//! Read, write, grow, store and project `{decimal, tree}` blocks.

mod block;
mod error;
mod layer;
pub mod migrate;
mod name;
mod path;
mod store;
mod tokens;

pub use block::{
    Appended, Applied, Block, Change, CutBlock, Hit, Inverse, Lint, LintKind, MAX_DECIMAL,
    MAX_FILE, MAX_NODES, MAX_TEXT, NodeDiff, NodeView, Op, Step, Summary, SummaryKind, Whole,
    render_json,
};
pub use error::{BlockError, FormatErrors, Issue};
pub use layer::{Depth, Layer, aperture, render_outline};
pub use name::{BlockName, NameError};
pub use path::{MAX_DEPTH, Path, PathError};
pub use store::{
    BlockInfo, BlockStore, Edited, LogEntry, LoggedOp, MemStore, Provenance, Stamp, StoreError,
    Versioned,
};
#[cfg(feature = "tiktoken")]
pub use tokens::O200k;
pub use tokens::{Heuristic, TokenCounter};
