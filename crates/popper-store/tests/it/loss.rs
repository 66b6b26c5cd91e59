//! Connections that are lost, and servers that crash: the next call says so, the one after it works.

use std::cell::Cell;
use std::time::Duration;

use popper_discovery::store::{DecisionRow, Store as _, StoreError};
use popper_store::{Access, Address, Server};
use test_support::program::signal;

use crate::made;
use crate::place::{self, Place as _};

fn is_disconnected(error: &StoreError) -> bool {
    matches!(error, StoreError::Disconnected { .. })
}

#[tokio::test]
async fn a_server_that_is_away_is_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!(
        "postgres://someone:hidden@localhost/popper?host={}",
        folder.path().display()
    );
    let address = Address::parse(&url).unwrap();
    let error = Server::open(&address, "test", Access::Write)
        .await
        .unwrap_err();
    assert!(is_disconnected(&error), "{error:?}");
    let text = error.to_string();
    let expected = format!("{address}: the connection was lost");
    assert_eq!(text, expected);
    assert!(!format!("{error:?}").contains("hidden"));
}

#[tokio::test]
async fn a_crash_of_the_server_loses_nothing_that_was_committed() {
    let Some(mut server) = test_support::postgres::server() else {
        return;
    };
    let place = place::on(&server);
    let mut store = place.open_as("a run").await;
    store.lock("universe", "configuration").await.unwrap();
    let laws = made::queue(&mut store, 30).await;
    let decisions = made::decisions(&laws);
    store.commit(&decisions[..6]).await.unwrap();
    server.restart();
    let error = store.commit(&decisions[..12]).await.unwrap_err();
    assert!(is_disconnected(&error), "{error:?}");
    assert_eq!(place.sound_counts().await, made::expected_counts(6));
    store.commit(&decisions[..12]).await.unwrap();
    assert_eq!(place.sound_counts().await, made::expected_counts(12));
    server.crash();
    for _ in 0..3 {
        let error = store.commit(&decisions).await.unwrap_err();
        assert!(is_disconnected(&error), "{error:?}");
    }
    server.begin();
    store.commit(&decisions).await.unwrap();
    assert_eq!(place.sound_counts().await, made::expected_counts(30));
}

/// Commits until it is answered.
async fn commit_with_patience(store: &mut Server, group: &[DecisionRow]) -> u32 {
    for losses in 0..1000 {
        match store.commit(group).await {
            Ok(()) => return losses,
            Err(error) => assert!(is_disconnected(&error), "{error:?}"),
        }
    }
    panic!("no commit is answered");
}

#[tokio::test]
async fn sessions_that_are_ended_leave_every_decision_once() {
    let Some(place) = place::server() else { return };
    let mut store = place.open_as("a run").await;
    store.lock("universe", "configuration").await.unwrap();
    let laws = made::queue(&mut store, 300).await;
    let decisions = made::decisions(&laws);
    // At any instant: within a statement, between two of them, and while a session is made.
    let is_over = Cell::new(false);
    let kills = async {
        for round in 0..20 {
            while place.terminate("a run").await == 0 {}
            tokio::time::sleep(Duration::from_millis(round * 37 % 50)).await;
        }
        is_over.set(true);
    };
    let commits = async {
        let mut losses = 0;
        for group in decisions.chunks(3).cycle() {
            losses += commit_with_patience(&mut store, group).await;
            if is_over.get() {
                break;
            }
        }
        losses
    };
    let ((), losses) = futures_util::future::join(kills, commits).await;
    assert!(losses >= 10, "{losses}");
    commit_with_patience(&mut store, &decisions).await;
    assert_eq!(place.sound_counts().await, made::expected_counts(300));
    let sessions = "SELECT count(*) FROM pg_stat_activity \
                    WHERE datname = current_database() AND application_name = 'a run'";
    assert_eq!(place.number(sessions).await, 1);
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    let Some(place) = place::server() else { return };
    let mut store = place.open_as("a run").await;
    store.lock("universe", "configuration").await.unwrap();
    let pid = "SELECT pid::bigint FROM pg_stat_activity \
               WHERE datname = current_database() AND application_name = 'a run'";
    let pid = u32::try_from(place.number(pid).await).unwrap();
    signal(pid, "-STOP");
    // Nothing else happens here, so the clock goes on to the limit at once.
    tokio::time::pause();
    let error = store.create_run(&made::run()).await.unwrap_err();
    tokio::time::resume();
    signal(pid, "-CONT");
    assert!(is_disconnected(&error), "{error:?}");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("no answer within 75 s"), "{source}");
    // The session may have gone on after all: the new one waits for its end.
    store.create_run(&made::run()).await.unwrap();
    assert_eq!(place.number("SELECT count(*) FROM popper.runs").await, 1);
}
