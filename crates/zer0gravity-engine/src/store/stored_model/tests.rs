//! Two tasks that wait for one call, of which the first is dropped: not visible from outside.

use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::SystemTime;

use llm_types::FixedClock;
use tokio::sync::Notify;

use super::*;
use crate::store::{CallStore, MemoryStore};

/// Counts a text when the test opens the gate.
#[derive(Default)]
struct Gate {
    asked: Mutex<u32>,
    open: Notify,
}

impl ModelClient for Gate {
    fn complete(&self, _: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>> {
        unreachable!("only counts are asked for")
    }

    fn count_tokens(&self, _: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>> {
        async {
            *lock(&self.asked) += 1;
            self.open.notified().await;
            Ok(TokenCount {
                tokens: 7,
                call: CallFacts::default(),
            })
        }
        .boxed()
    }

    fn label(&self) -> ModelLabel {
        ModelLabel {
            provider: "p".to_owned(),
            host: String::new(),
            offline: false,
        }
    }
}

const STILL: FixedClock = FixedClock(SystemTime::UNIX_EPOCH);

/// A memory that counts what is written to it.
#[derive(Default)]
struct Counted {
    store: MemoryStore,
    written: Arc<Mutex<usize>>,
}

impl CallStore for Counted {
    fn get(&self, key: &CallKey) -> Result<Option<Arc<CallRecord>>, StoreError> {
        self.store.get(key)
    }

    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        *lock(&self.written) += records.len();
        self.store.append(records)
    }
}

fn question() -> CountRequest {
    CountRequest {
        model: "m".to_owned(),
        text: "t".to_owned(),
    }
}

#[test]
fn who_waits_takes_over_when_the_first_is_dropped() {
    let gate = Gate::default();
    let store = Counted::default();
    let written = store.written.clone();
    let store = SharedStore::new(store);
    // One permit: if the dropped call kept it, no other call could take over.
    let client = StoredModel::new(&gate, &STILL, &store, 1, CancellationToken::new());
    let mut context = Context::from_waker(Waker::noop());

    let mut first = client.count_tokens(question());
    let mut second = pin!(client.count_tokens(question()));
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    assert_eq!(*lock(&gate.asked), 1);

    drop(first);
    assert!(second.as_mut().poll(&mut context).is_pending());
    // The dropped call has no answer that could be kept, so it is made again.
    assert_eq!((*lock(&gate.asked), *lock(&written)), (2, 0));

    gate.open.notify_one();
    let Poll::Ready(Ok(count)) = second.as_mut().poll(&mut context) else {
        panic!("the answer is there");
    };
    assert_eq!((count.tokens, *lock(&written)), (7, 1));
    // A third finds the answer.
    let mut third = pin!(client.count_tokens(question()));
    assert!(third.as_mut().poll(&mut context).is_ready());
    assert_eq!((*lock(&gate.asked), *lock(&written)), (2, 1));
}

#[test]
fn an_answer_reaches_all_who_wait() {
    let gate = Gate::default();
    let store = SharedStore::new(MemoryStore::default());
    let client = StoredModel::new(&gate, &STILL, &store, 8, CancellationToken::new());
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting: Vec<_> = (0..3).map(|_| client.count_tokens(question())).collect();
    for one in &mut waiting {
        assert!(one.as_mut().poll(&mut context).is_pending());
    }
    gate.open.notify_one();
    for one in &mut waiting {
        assert!(one.as_mut().poll(&mut context).is_ready());
    }
    assert_eq!(*lock(&gate.asked), 1);
}
