use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;

use super::call_store::lock;
use super::{CallKey, CallRecord, SharedStore};
use crate::model::ModelError;

/// The calls of a run: of those that ask the same, one is looked up or made, and all get its record.
pub(super) struct SharedCalls<'a> {
    store: &'a SharedStore,
    /// The calls under way, and those that ended without a record that the store returns. `None`: the store has the record.
    cells: Mutex<HashMap<CallKey, Option<RecordCell>>>,
}

type RecordCell = Arc<OnceCell<Arc<CallRecord>>>;

impl<'a> SharedCalls<'a> {
    pub fn new(store: &'a SharedStore) -> Self {
        Self {
            store,
            cells: Mutex::default(),
        }
    }

    /// Returns the record of a call. The first that asks gets it by `find`, which receives what the store holds; if it is dropped meanwhile,
    /// the next does. Later ones get it from the store.
    ///
    /// # Errors
    /// The error of `find`. It is not shared: each waiting task calls `find` again.
    pub async fn get<F>(
        &self,
        key: &CallKey,
        find: impl FnOnce(Option<Arc<CallRecord>>) -> F,
    ) -> Result<Arc<CallRecord>, ModelError>
    where
        F: Future<Output = Result<Arc<CallRecord>, ModelError>>,
    {
        let ended = lock(&self.cells).get(key).is_some_and(Option::is_none);
        if ended && let Some(record) = self.store.get(key).await {
            return Ok(record);
        }
        let cell = (lock(&self.cells).entry(*key).or_default())
            .get_or_insert_default()
            .clone();
        let found = cell.get_or_try_init(|| async { find(self.store.get(key).await).await });
        let record = found.await?.clone();
        if record.is_reusable() {
            lock(&self.cells).insert(*key, None);
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::{pending, ready};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::FailureKind;
    use crate::store::record::sample_count;
    use crate::store::{CallStore as _, MemoryStore};

    #[test]
    fn z50_equal_calls_that_miss_together_are_made_once_and_share_one_record() {
        let store = SharedStore::new(MemoryStore::default());
        let calls = SharedCalls::new(&store);
        let mut context = Context::from_waker(Waker::noop());
        let (record, made, open) = (sample_count("t"), Cell::new(0), Cell::new(false));
        let find = |kept: Option<Arc<CallRecord>>| {
            assert_eq!(kept, None);
            made.set(made.get() + 1);
            std::future::poll_fn(|_| {
                if open.get() {
                    Poll::Ready(Ok(record.clone()))
                } else {
                    Poll::Pending
                }
            })
        };
        let mut waiting: Vec<_> = (0..3)
            .map(|_| Box::pin(calls.get(&record.key, find)))
            .collect();
        for one in &mut waiting {
            assert!(one.as_mut().poll(&mut context).is_pending());
        }
        open.set(true);
        for one in &mut waiting {
            let Poll::Ready(Ok(found)) = one.as_mut().poll(&mut context) else {
                panic!("the record is there");
            };
            assert!(Arc::ptr_eq(&found, &record));
        }
        assert_eq!(made.get(), 1);
    }

    #[test]
    fn z50_a_kept_record_is_the_stores_own() {
        let record = sample_count("t");
        let mut store = MemoryStore::default();
        store.append(std::slice::from_ref(&record)).unwrap();
        let store = SharedStore::new(store);
        let calls = SharedCalls::new(&store);
        let mut context = Context::from_waker(Waker::noop());
        let mut call = pin!(calls.get(&record.key, |kept| ready(Ok(kept.unwrap()))));
        let Poll::Ready(Ok(found)) = call.as_mut().poll(&mut context) else {
            panic!("the record is there");
        };
        assert!(Arc::ptr_eq(&found, &record));
    }

    #[test]
    fn z50_dropped_and_failed_calls_are_left_to_the_next() {
        let store = SharedStore::new(MemoryStore::default());
        let calls = SharedCalls::new(&store);
        let mut context = Context::from_waker(Waker::noop());
        let record = sample_count("t");
        let mut dropped = Box::pin(calls.get(&record.key, |_| pending()));
        assert!(dropped.as_mut().poll(&mut context).is_pending());
        let unsent = || ready(Err(ModelError::unsent(FailureKind::Interrupted, "")));
        let mut failed = pin!(calls.get(&record.key, |_| unsent()));
        assert!(failed.as_mut().poll(&mut context).is_pending());
        drop(dropped);
        assert!(matches!(
            failed.as_mut().poll(&mut context),
            Poll::Ready(Err(_))
        ));
        let mut next = pin!(calls.get(&record.key, |_| ready(Ok(record.clone()))));
        assert!(matches!(
            next.as_mut().poll(&mut context),
            Poll::Ready(Ok(_))
        ));
    }
}
