//! The ends: of a page that does not read, and of a server on request.

use std::sync::Arc;

use async_trait::async_trait;
use hermitcrab_kernel::{
    Brain, BrainError, BrainInfo, BrainReply, BrainRequest, Event, EventSink, ScriptBrain,
    ScriptStep,
};
use pscale_blocks::{BlockStore as _, DirStore};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::stand::{GatedBrain, Setting, Stand, face};

/// Says very much.
struct Chatterer(ScriptBrain);

#[async_trait]
impl Brain for Chatterer {
    fn info(&self) -> BrainInfo {
        self.0.info()
    }

    async fn complete(
        &self,
        request: BrainRequest,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        if request.messages.len() > 1 {
            let text = "x".repeat(8_192);
            for _ in 0..2_500 {
                events.send(Event::Delta { text: text.clone() });
                // Whoever reads gets the time for it.
                for _ in 0..16 {
                    tokio::task::yield_now().await;
                }
            }
        }
        self.0.complete(request, events, cancel).await
    }
}

#[tokio::test]
async fn a_page_that_does_not_read_is_cut_off_and_the_others_go_on() {
    let script = ScriptBrain::new([face("1"), ScriptStep::text("That was all.")]);
    let stand = Setting::default().open(Arc::new(Chatterer(script))).await;
    let mut page = stand.booted().await;
    let mut slow = stand.page().await;
    slow.show_of(1).await;
    page.said_all("Tell me everything.").await;
    assert_eq!(stand.get("/health").await.json()["pages"], 1);
    page.shell("usage", json!([])).await.unwrap();
    slow.closed().await;
    stand.end().await;
}

#[tokio::test]
async fn the_end_waits_for_no_page_and_what_was_said_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(DirStore::open(dir.path()).unwrap().without_fsync());
    let write = json!({"name": "memory", "path": "0.1", "content": "The tide was high."});
    let brain = GatedBrain::new(
        2,
        [face("1"), ScriptStep::tools(&[("2", "block_write", write)])],
    );
    let mut setting = Setting::default().in_dir(dir.path());
    setting.store = store.clone();
    let stand = setting.open(brain).await;
    let mut page = stand.booted().await;
    let mut idle = stand.page().await;
    page.start_shell("send", json!(["Remember the tide."]))
        .await;
    // The first round is done; in the second the model does not answer.
    page.event_of("tool", |data| data["phase"] == "end").await;
    page.event("block_changed").await;
    let quiet = TcpStream::connect(stand.addr).await.unwrap();
    let mut half = TcpStream::connect(stand.addr).await.unwrap();
    half.write_all(b"GET / HTTP/1.1\r\nHo").await.unwrap();
    let kernel = stand.kernel.clone();
    stand.end().await;
    page.closed().await;
    idle.closed().await;
    drop((quiet, half));
    let said = serde_json::to_string(&kernel.record().unwrap()).unwrap();
    assert!(
        said.contains("Remember the tide.") && said.contains("block_write"),
        "{said}"
    );
    assert!(store.names().unwrap().len() >= 6);

    let mut setting = Setting::default().in_dir(dir.path());
    setting.store = store;
    let stand = setting.open(Arc::new(ScriptBrain::new([]))).await;
    let mut page = stand.booted().await;
    let loaded = page.shell("conversation.load", json!([])).await.unwrap();
    assert_eq!(
        loaded["messages"][0]["text"], "Remember the tide.",
        "{loaded}"
    );
    stand.end().await;
}

#[tokio::test]
async fn a_server_that_nobody_looked_at_ends() {
    let stand = Stand::script([face("1")]).await;
    let addr = stand.addr;
    stand.end().await;
    TcpStream::connect(addr).await.unwrap_err();
}

#[tokio::test]
async fn a_server_ends_in_the_middle_of_a_boot_and_of_a_trial() {
    let brain = GatedBrain::new(0, [face("1")]);
    let stand = Setting::default().open(brain.clone()).await;
    let mut page = stand.page().await;
    page.event_of("busy", |data| data["busy"] == true).await;
    stand.end().await;
    assert!(brain.asked().is_empty());

    let stand = Stand::script([face("1")]).await;
    let mut page = stand.knock().await;
    page.mounts = false;
    page.tell(Stand::hello(&stand.session().await)).await;
    page.show_of(1).await;
    stand.end().await;
}
