//! The store of all calls of a run by their content. An equal call is not made again.

mod call_store;
mod calls_file;
mod jsonl;
mod key;
mod limiter;
mod memory;
pub(crate) mod off_thread;
mod record;
mod shared;
mod shared_calls;
mod stop_switch;
mod stored_model;

pub use call_store::{CallStore, StoreError};
pub use calls_file::CallsFile;
pub(crate) use jsonl::read_calls;
pub use jsonl::{JsonlStore, TornLine};
pub use key::CallKey;
pub use memory::MemoryStore;
pub use record::{CallRecord, StoredAnswer};
pub(crate) use shared::SharedStore;
pub(crate) use stored_model::{SampledModel, StoredModel};
