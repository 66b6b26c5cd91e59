use std::collections::HashMap;
use std::sync::Arc;

use super::{CallKey, CallRecord, CallStore, StoreError};

/// Keeps calls as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryStore {
    calls: HashMap<CallKey, Arc<CallRecord>>,
}

impl CallStore for MemoryStore {
    fn get(&self, key: &CallKey) -> Option<Arc<CallRecord>> {
        self.calls.get(key).cloned()
    }

    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        let reusable = records.iter().filter(|record| record.is_reusable());
        let known = reusable.map(|record| (record.key.clone(), record.clone()));
        self.calls.extend(known);
        Ok(())
    }
}
