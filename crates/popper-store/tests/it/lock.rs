//! One coordinator at a time for a universe and a configuration.

use std::time::Duration;

use popper_discovery::store::{Store as _, StoreError};
use popper_store::{Access, Server};

use crate::made;
use crate::place::{self, OnServer, Place as _};

/// Takes the lock once the session that had it is gone.
async fn lock_soon(server: &mut Server, pair: (&str, &str)) {
    for _ in 0..1000 {
        match server.lock(pair.0, pair.1).await {
            Ok(()) => return,
            Err(StoreError::Locked { .. }) => tokio::time::sleep(Duration::from_millis(10)).await,
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("the lock stays taken");
}

async fn runs(place: &OnServer) -> i64 {
    place.number("SELECT count(*) FROM popper.runs").await
}

/// The number of the session of this name.
async fn session(place: &OnServer, name: &str) -> i64 {
    let sql = format!(
        "SELECT pid::bigint FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name = '{name}'"
    );
    place.number(&sql).await
}

#[tokio::test]
async fn one_of_two_coordinators_runs() {
    let Some(place) = place::server() else { return };
    let mut coordinators = [
        place.open_as("popper run 1").await,
        place.open_as("popper run 2").await,
    ];
    for start in 0..20 {
        let universe = format!("universe {start}");
        let [one, two] = &mut coordinators;
        let answers = futures_util::future::join(
            one.lock(&universe, "configuration"),
            two.lock(&universe, "configuration"),
        );
        let (one, two) = answers.await;
        let (winner, error) = match (one, two) {
            (Ok(()), Err(error)) => (1, error),
            (Err(error), Ok(())) => (2, error),
            both => panic!("{both:?}"),
        };
        let name = format!("popper run {winner}");
        let pid = session(&place, &name).await;
        let expected = format!(
            "{} ({name} on the server's machine, session {pid}): in use by another process",
            place.address()
        );
        assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    let [one, two] = coordinators;
    one.close().await.unwrap();
    two.close().await.unwrap();
}

#[tokio::test]
async fn the_lock_is_free_when_the_store_is_closed() {
    let Some(place) = place::server() else { return };
    let mut coordinator = place.open(Access::Write).await;
    for _ in 0..20 {
        coordinator.lock("a", "b").await.unwrap();
        coordinator.create_run(&made::run()).await.unwrap();
        let next = place.open(Access::Write).await;
        coordinator.close().await.unwrap();
        coordinator = next;
    }
    assert_eq!(runs(&place).await, 20);
}

#[tokio::test]
async fn different_pairs_are_written_at_once() {
    let Some(place) = place::server() else { return };
    let pairs = [("a", "b"), ("b", "a"), ("a", "c"), ("ab", "")];
    let work = pairs.map(async |(universe, configuration)| {
        let mut coordinator = place.open(Access::Write).await;
        coordinator.lock(universe, configuration).await.unwrap();
        let laws = made::queue(&mut coordinator, 30).await;
        let mut decisions = made::decisions(&laws);
        for key in decisions.iter_mut().filter_map(|it| it.key.as_mut()) {
            (key.sim_hash, key.harness_config_hash) = (universe.into(), configuration.into());
        }
        for group in decisions.chunks(3) {
            coordinator.commit(group).await.unwrap();
        }
        coordinator
    });
    // All of them are open until the last is done.
    let coordinators = futures_util::future::join_all(work).await;
    assert_eq!(place.sound_counts().await, [120, 40, 120, 120]);
    drop(coordinators);
}

#[tokio::test]
async fn a_coordinator_that_lost_its_session_to_another_never_writes() {
    let Some(place) = place::server() else { return };
    for round in 0..10 {
        let mut first = place.open_as("the first").await;
        let mut second = place.open_as("the second").await;
        let pair = ("universe", "configuration");
        lock_soon(&mut first, pair).await;
        first.create_run(&made::run()).await.unwrap();
        assert_eq!(place.terminate("the first").await, 1);
        second.lock(pair.0, pair.1).await.unwrap();
        let error = first.create_run(&made::run()).await.unwrap_err();
        assert!(
            matches!(error, StoreError::Disconnected { .. }),
            "{error:?}"
        );
        for _ in 0..3 {
            let error = first.create_run(&made::run()).await.unwrap_err();
            assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
            assert!(error.to_string().contains("(the second on "), "{error}");
            second.create_run(&made::run()).await.unwrap();
        }
        assert_eq!(runs(&place).await, 4 * (round + 1));
    }
}

#[tokio::test]
async fn a_coordinator_that_loses_its_session_alone_goes_on() {
    let Some(place) = place::server() else { return };
    let mut first = place.open_as("the first").await;
    first.lock("universe", "configuration").await.unwrap();
    for round in 0..10 {
        assert_eq!(place.terminate("the first").await, 1);
        let error = first.create_run(&made::run()).await.unwrap_err();
        assert!(
            matches!(error, StoreError::Disconnected { .. }),
            "{error:?}"
        );
        first.create_run(&made::run()).await.unwrap();
        assert_eq!(runs(&place).await, round + 1);
        let mut second = place.open_as("the second").await;
        let error = second.lock("universe", "configuration").await.unwrap_err();
        assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
        second.close().await.unwrap();
    }
    // Also between the start of the session and the lock.
    let mut third = place.open_as("the third").await;
    assert_eq!(place.terminate("the third").await, 1);
    let error = third.lock("another", "pair").await.unwrap_err();
    assert!(
        matches!(error, StoreError::Disconnected { .. }),
        "{error:?}"
    );
    third.lock("another", "pair").await.unwrap();
}

#[tokio::test]
async fn a_coordinator_is_not_locked_out_by_its_own_former_session() {
    let Some(place) = place::server() else { return };
    let mut coordinator = place.open(Access::Write).await;
    coordinator.lock("universe", "configuration").await.unwrap();
    let laws = made::queue(&mut coordinator, 150).await;
    let decisions = made::decisions(&laws);
    coordinator.commit(&decisions[..1]).await.unwrap();
    let mut other = decisions.clone();
    other[0].verdict_digest = "another".into();
    for round in 1..=20 {
        // A session with an open transaction is given up, and so is one that still works on a statement.
        let error = coordinator.commit(&other).await.unwrap_err();
        assert!(
            matches!(error, StoreError::Contradiction { .. }),
            "{error:?}"
        );
        let commit = coordinator.commit(&decisions);
        let given_up = tokio::time::timeout(Duration::from_micros(500 * round), commit).await;
        if given_up.is_ok() {
            break;
        }
    }
    coordinator.commit(&decisions).await.unwrap();
    assert_eq!(place.sound_counts().await, made::expected_counts(150));
}
