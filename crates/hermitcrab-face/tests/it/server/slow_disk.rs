//! A disk that does not answer holds up what needs it, and nothing else.

use std::sync::{Arc, Condvar, Mutex};

use hermitcrab_kernel::{ScriptBrain, ScriptStep};
use pscale_blocks::store::{StoreCall, StoreWatch, WatchedStore};
use pscale_blocks::{BlockName, MemStore, StoreError};
use serde_json::json;

use super::stand::{Setting, Stand, face};

/// An observer that lets block `slow` be read when the test says so.
#[derive(Default)]
struct SlowDisk {
    held: Mutex<bool>,
    freed: Condvar,
}

impl SlowDisk {
    fn hold(&self, held: bool) {
        *self.held.lock().unwrap() = held;
        self.freed.notify_all();
    }
}

impl StoreWatch for SlowDisk {
    fn before(&self, name: &BlockName, call: StoreCall) -> Result<(), StoreError> {
        if name.as_str() == "slow" && call == StoreCall::Load {
            let held = self.held.lock().unwrap();
            drop(self.freed.wait_while(held, |held| *held).unwrap());
        }
        Ok(())
    }
}

async fn on(store: &Arc<WatchedStore<MemStore, SlowDisk>>, steps: Vec<ScriptStep>) -> Stand {
    let setting = Setting {
        store: store.clone(),
        ..Setting::default()
    };
    setting.open(Arc::new(ScriptBrain::new(steps))).await
}

/// More readers wait for the disk than the runtime has threads; everything else is answered while they do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h15_stop_health_and_other_blocks_do_not_wait_for_a_disk_that_hangs() {
    let store = Arc::<WatchedStore<_, SlowDisk>>::default();
    let read = json!({"name": "slow"});
    let steps = [face("1"), ScriptStep::tools(&[("2", "block_read", read)])];
    let stand = on(&store, steps.into()).await;
    let mut page = stand.booted().await;
    let mut other = stand.page().await;
    other.show_of(1).await;
    let slow = json!(["slow", "a block whose file hangs"]);
    page.shell("blockCreate", slow).await.unwrap();

    store.watch.hold(true);
    let turn = page.start_shell("send", json!(["Read it."])).await;
    page.event_of("tool", |data| data["phase"] == "start").await;
    let read = page.start_shell("blockRead", json!(["slow"])).await;
    let node = other.start(None, "blockNode", json!(["slow", "0"])).await;

    assert_eq!(stand.get("/health").await.json()["pages"], 2);
    let stopped = page.bar("stop", json!([])).await.unwrap();
    assert_eq!(stopped, json!({"stopped": true}));
    other.shell("blockRead", json!(["memory"])).await.unwrap();
    // On one page neither the person's own calls wait for a face nor a face for them.
    let memory = json!(["memory", "0"]);
    page.bar("blockNode", memory).await.unwrap();

    store.watch.hold(false);
    let report = page.reply(turn).await.unwrap();
    assert_eq!(report["stopped"], "stopped", "{report}");
    page.reply(read).await.unwrap();
    other.reply(node).await.unwrap();
    stand.end().await;
}

/// The steps of a shell that does not wait for each of them are done in order, on any number of threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h15_edits_of_a_page_are_made_in_its_order() {
    let stand = on(&Arc::default(), vec![face("1")]).await;
    let mut page = stand.booted().await;
    // As many calls as a shell may make at once.
    for round in 0..5 {
        let mut calls = Vec::new();
        for step in 0..8 {
            let state = json!([{"round": round, "step": step}]);
            calls.push(page.start_shell("state.set", state).await);
        }
        for call in calls {
            page.reply(call).await.unwrap();
        }
        let last = page.bar("state.get", json!([])).await.unwrap();
        assert_eq!(last["step"], 7, "{last}");
    }
    stand.end().await;
}
