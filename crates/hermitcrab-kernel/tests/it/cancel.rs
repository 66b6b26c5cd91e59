//! The stop button: acceptance row 33.

use std::time::Duration;

use hermitcrab_kernel::{Brain as _, BrainError, EventSink};
use test_support::{Answer, CannedReply, FaultServer, Signal};
use tokio_util::sync::CancellationToken;

use crate::models::{Rig, request};

/// The server must see the end of the connection within this time: the one limit here that a wall clock measures.
const AT_ONCE: Duration = Duration::from_millis(200);

async fn is_dropped(answer: impl Fn(&Signal) -> Answer) {
    let reached = Signal::new();
    let server = FaultServer::replies([answer(&reached)]);
    let rig = Rig::new(server, &hermitcrab_kernel::config::Settings::default());
    let cancel = CancellationToken::new();
    let ask = rig
        .brain
        .complete(request(), EventSink::none(), cancel.clone());
    let stop = async {
        reached.wait().await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(ask, stop);
    assert!(matches!(outcome, Err(BrainError::Cancelled)));
    let closed = tokio::time::timeout(AT_ONCE, rig.server.wait_closed(1));
    closed.await.unwrap();
}

#[tokio::test]
async fn a_request_without_an_answer_is_dropped() {
    is_dropped(|reached| Answer::raw().fire(reached).stall()).await;
}

#[tokio::test]
async fn a_stream_is_dropped_in_the_midst() {
    let pieces = CannedReply::text("a long answer").anthropic_events();
    is_dropped(|reached| Answer::events().pieces(&pieces[..3]).fire(reached).stall()).await;
}

#[tokio::test]
async fn what_is_stopped_before_it_begins_sends_nothing() {
    let server = FaultServer::play(|_| Answer::raw());
    let rig = Rig::new(server, &hermitcrab_kernel::config::Settings::default());
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = rig.brain.complete(request(), EventSink::none(), cancel);
    assert!(matches!(outcome.await, Err(BrainError::Cancelled)));
    assert_eq!(rig.server.accepted(), 0);
}
