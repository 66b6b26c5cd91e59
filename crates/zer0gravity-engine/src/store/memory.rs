use std::collections::HashMap;
use std::sync::Arc;

use super::{CallKey, CallRecord, CallStore, StoreError};

/// Keeps calls as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryStore {
    calls: HashMap<CallKey, Arc<CallRecord>>,
}

impl CallStore for MemoryStore {
    fn get(&self, key: &CallKey) -> Result<Option<Arc<CallRecord>>, StoreError> {
        Ok(self.calls.get(key).cloned())
    }

    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        for record in records.iter().filter(|record| record.is_reusable()) {
            self.calls.insert(record.key, record.clone());
        }
        Ok(())
    }
}
