use std::collections::HashMap;

use super::{CallKey, CallRecord, CallStore, StoreError};

/// Keeps calls as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryStore {
    calls: HashMap<CallKey, CallRecord>,
}

impl CallStore for MemoryStore {
    fn get(&self, key: &CallKey) -> Option<CallRecord> {
        self.calls.get(key).cloned()
    }

    fn append(&mut self, record: &CallRecord) -> Result<(), StoreError> {
        if record.is_reusable() {
            self.calls.insert(record.key.clone(), record.clone());
        }
        Ok(())
    }
}
