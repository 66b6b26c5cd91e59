//! Read, write, grow, store and project `{decimal, tree}` blocks.

mod block;
mod bundle;
mod error;
mod layer;
pub mod migrate;
mod name;
mod path;
mod secrets;
mod store;
mod tokens;

pub use block::{
    Appended, Applied, Block, Change, CutBlock, Hit, Inverse, Lint, LintKind, MAX_DECIMAL,
    MAX_FILE, MAX_NODES, MAX_TEXT, NodeDiff, NodeView, Op, Step, Summary, SummaryKind, Whole,
    render_json,
};
pub use bundle::{
    BundleError, Export, Fault, FaultReason, Imported, MAX_BUNDLE, OnConflict, Outcome, Parcel,
    export,
};
pub use error::{BlockError, FormatErrors, Issue};
pub use layer::{Depth, Layer, aperture, render_outline};
pub use name::{BlockName, NameError};
pub use path::{MAX_DEPTH, Path, PathError};
pub use secrets::{KEY_REMOVED, remove_keys};
pub use store::{
    BlockInfo, BlockStore, DirStore, Edited, LogEntry, LoggedOp, MemStore, Provenance, Stamp,
    StoreError, Versioned,
};
#[cfg(feature = "testing")]
pub use store::{Step as DiskStep, Watch as DiskWatch, conformance};
#[cfg(feature = "tiktoken")]
pub use tokens::O200k;
pub use tokens::{Heuristic, TokenCounter};
