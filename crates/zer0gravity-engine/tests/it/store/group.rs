//! Calls continue while the store writes and while texts are compared.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::ModelClient;
use zer0gravity_engine::model::{
    CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, TokenCount,
};
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::store::{CallKey, CallRecord, CallStore, StoreError};

use crate::desk::{Desk, plan};
use crate::player::{Player, fails};

fn block_on<T>(run: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(run)
}

/// A disk whose first write ends when `awaited` calls were made.
struct Slow {
    made: Arc<(Mutex<usize>, Condvar)>,
    awaited: usize,
    /// Records of each write.
    writes: Arc<Mutex<Vec<usize>>>,
    /// Records there is room for.
    room: usize,
}

impl CallStore for Slow {
    fn get(&self, _: &CallKey) -> Result<Option<Arc<CallRecord>>, StoreError> {
        Ok(None)
    }

    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        let (made, more) = &*self.made;
        let patience = Duration::from_secs(20);
        let few = |made: &mut usize| *made < self.awaited;
        let waited = more.wait_timeout_while(made.lock().unwrap(), patience, few);
        assert!(
            !waited.unwrap().1.timed_out(),
            "the calls wait for the disk"
        );
        if records.len() > self.room {
            return Err(StoreError::Io {
                verb: "write",
                path: "calls.jsonl".into(),
                source: std::io::ErrorKind::StorageFull.into(),
            });
        }
        self.room -= records.len();
        self.writes.lock().unwrap().push(records.len());
        Ok(())
    }
}

/// A player that tells of each call, and lets other calls have their turn.
struct Telling {
    player: Player,
    made: Arc<(Mutex<usize>, Condvar)>,
}

impl Telling {
    async fn tell(&self) {
        tokio::task::yield_now().await;
        *self.made.0.lock().unwrap() += 1;
        self.made.1.notify_all();
    }
}

impl ModelClient for Telling {
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>> {
        async {
            self.tell().await;
            self.player.complete(request).await
        }
        .boxed()
    }

    fn count_tokens(&self, request: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>> {
        async {
            self.tell().await;
            self.player.count_tokens(request).await
        }
        .boxed()
    }

    fn label(&self) -> ModelLabel {
        self.player.label()
    }
}

/// Eight texts at once on a disk with this room: the records of each write, and whether the run ended well.
fn slowly(room: usize) -> (Vec<usize>, bool) {
    let texts: Vec<String> = (0..8).map(|number| format!("text {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (made, writes) = (Arc::default(), Arc::default());
    let client = Telling {
        player: Player::default(),
        made: Arc::clone(&made),
    };
    let store = Slow {
        made,
        awaited: 8,
        writes: Arc::clone(&writes),
        room,
    };
    let done = block_on(Desk::default().stored(&client, &plan(&texts), store));
    let writes = writes.lock().unwrap().clone();
    (writes, done.is_ok())
}

#[test]
fn z16_calls_that_end_during_a_write_are_kept_by_the_next() {
    let (writes, done) = slowly(usize::MAX);
    // The first write would wait in vain if the other seven calls could not be made meanwhile.
    assert_eq!(writes[..2], [1, 7], "{writes:?}");
    assert!(done);
}

#[test]
fn z16_what_there_is_room_for_is_kept_of_a_group() {
    let (writes, done) = slowly(5);
    assert_eq!(writes, [1, 1, 1, 1, 1]);
    assert!(!done);
}

#[test]
fn z16_calls_go_on_while_texts_are_compared() {
    let long =
        "The bird in the tree sings to the wind, and 12 children do not listen. ".repeat(3000);
    let last = Arc::new(AtomicUsize::new(0));
    let player = Player::default()
        .counts(|_| Err(fails("bad_request", 404)))
        .role(Role::Decoder, {
            let long = long.clone();
            move || Ok(crate::player::says(long.clone()))
        })
        .role_with(Role::SemanticJudge, {
            let last = last.clone();
            move |_| last.store(1, Ordering::SeqCst)
        });
    let (desk, plan) = (Desk::default(), plan(&[&long]));
    let turns = block_on(async {
        let run = desk.quietly(&player, &plan, CancellationToken::new());
        tokio::pin!(run);
        // How often anything else has its turn after the last reply.
        let mut turns = 0;
        loop {
            tokio::select! {
                biased;
                report = &mut run => {
                    assert!(report.unwrap().results[0].metrics.is_some());
                    break turns;
                }
                () = tokio::task::yield_now() => turns += last.load(Ordering::SeqCst),
            }
        }
    });
    // On the thread of the calls it would be a handful, however long the text is.
    assert!(turns > 100, "{turns}");
}
