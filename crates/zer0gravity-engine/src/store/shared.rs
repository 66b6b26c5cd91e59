//! One store for all calls of a run.

use std::fmt;
use std::mem::take;
use std::sync::{Arc, Mutex};

use super::call_store::lock;
use super::{CallKey, CallRecord, CallStore, StoreError};
use crate::store::off_thread::off_thread;

/// A store that all calls of a run share. Calls that end during a write are stored together by the next write. Within a Tokio
/// runtime a thread of its pool writes. Clones share one store.
#[derive(Clone)]
pub(crate) struct SharedStore(Arc<Shared>);

struct Shared {
    store: Arc<tokio::sync::Mutex<Box<dyn CallStore>>>,
    /// The calls that have ended and are not stored yet.
    ended: Mutex<Vec<Arc<CallRecord>>>,
    failed: Mutex<Option<StoreError>>,
}

impl SharedStore {
    /// Makes `store` available to several tasks.
    pub fn new(store: impl CallStore + 'static) -> Self {
        Self(Arc::new(Shared {
            store: Arc::new(tokio::sync::Mutex::new(Box::new(store))),
            ended: Mutex::default(),
            failed: Mutex::default(),
        }))
    }

    /// Returns the result of [`CallStore::get`]. A call that cannot be read is missing, and the failure ends the run before it is made
    /// again.
    pub(super) async fn get(&self, key: &CallKey) -> Option<Arc<CallRecord>> {
        let found = self.0.store.lock().await.get(key);
        found.unwrap_or_else(|error| {
            lock(&self.0.failed).get_or_insert(error);
            None
        })
    }

    /// Stores a call. It returns when the call is stored or the write has failed; see [`Self::failure`].
    pub(super) async fn keep(&self, record: Arc<CallRecord>) {
        lock(&self.0.ended).push(record);
        let mut store = self.0.store.clone().lock_owned().await;
        let records = take(&mut *lock(&self.0.ended));
        // Another task has stored this call meanwhile.
        if records.is_empty() {
            return;
        }
        let shared = self.0.clone();
        off_thread(move || {
            if store.append(&records).is_ok() {
                return;
            }
            // The group failed: store as many calls one by one as the disk has room for.
            for record in records.chunks(1) {
                if let Err(error) = store.append(record) {
                    lock(&shared.failed).get_or_insert(error);
                    return;
                }
            }
        })
        .await;
    }

    /// Returns the failure of the store, in words.
    pub(super) fn failure(&self) -> Option<String> {
        lock(&self.0.failed).as_ref().map(ToString::to_string)
    }

    /// Removes and returns the error, so that another run may try again.
    pub(super) fn take_failure(&self) -> Option<StoreError> {
        lock(&self.0.failed).take()
    }
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStore").finish_non_exhaustive()
    }
}
