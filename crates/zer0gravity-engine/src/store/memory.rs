use std::collections::HashMap;
use std::sync::Arc;

use super::{CallKey, CallRecord, CallStore, StoreError, StoredAnswer};

/// Keeps calls as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryStore {
    calls: HashMap<CallKey, Arc<CallRecord>>,
}

impl MemoryStore {
    /// Keeps a call, if it may stand for the same call later.
    pub(super) fn insert(&mut self, record: &Arc<CallRecord>) {
        if record.is_reusable() {
            self.calls.insert(record.key, record.clone());
        }
    }

    /// Forgets all calls if none of them has an answer: where no reply ever came, nothing could count either.
    pub(super) fn clear_unanswered(&mut self) {
        let answered = |record: &Arc<CallRecord>| !matches!(record.answer, StoredAnswer::Error(_));
        if !self.calls.values().any(answered) {
            self.calls.clear();
        }
    }
}

impl CallStore for MemoryStore {
    fn get(&self, key: &CallKey) -> Option<Arc<CallRecord>> {
        self.calls.get(key).cloned()
    }

    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        for record in records {
            self.insert(record);
        }
        Ok(())
    }
}
