//! Workers that are asked to end at any moment: they end what they have or give it back, and no delivery is counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::time::sleep;

use crate::child::WorkerProcess;
use crate::faults::{Waits, each_once, submit_primes};
use crate::scene::{Scene, until, within, worker_options};

/// The limit for the end of a worker: 30 s, and a job.
const END: Duration = Duration::from_secs(31);

#[tokio::test]
async fn terminated_workers_10() {
    terminate_workers(10).await;
}

#[tokio::test]
#[ignore = "long: 50 times"]
async fn terminated_workers_50() {
    terminate_workers(50).await;
}

/// Starts a worker that catches SIGTERM. Each second one may not end its job.
async fn start(scene: &Scene, folder: &TempDir, number: usize) -> WorkerProcess {
    let ready = folder.path().join(number.to_string());
    let grace = if number.is_multiple_of(2) {
        "30000"
    } else {
        "5"
    };
    let settings = [
        ("CHILD_READY", ready.to_str().unwrap()),
        ("CHILD_LEASE", "10000"),
        ("CHILD_GRACE", grace),
    ];
    let worker = WorkerProcess::start_at(&scene.url, "primes", &format!("w{number}"), &settings);
    until(async || ready.exists()).await;
    worker
}

/// Eight workers get SIGTERM at random instants, in their start, too; each one that ends is followed by another.
async fn terminate_workers(times: usize) {
    let work = crate::primes::Primes;
    let Some(scene) = Scene::new(&work).await else {
        return;
    };
    let scene = scene.with_lease(Duration::from_secs(10)).await;
    let jobs = 30 * times as u64;
    submit_primes(&scene, jobs).await;
    let folder = tempfile::tempdir().unwrap();
    let mut workers = Vec::new();
    for number in 0..8 {
        workers.push(start(&scene, &folder, number).await);
    }
    let mut waits = Waits::new(4);
    for number in 0..times {
        let worker = &mut workers[number % 8];
        waits.next(200).await;
        let asked = Instant::now();
        worker.signal("-TERM");
        let status = worker.ended().await;
        assert_eq!(status.code(), Some(130), "{number}: {status}");
        assert!(asked.elapsed() < END, "{:?}", asked.elapsed());
        *worker = start(&scene, &folder, 8 + number).await;
    }
    each_once(&scene, jobs as usize).await;
    // A job that ended although it was given back has none.
    let counted = "SELECT count(*) FROM work_queue.work WHERE deliveries > 1";
    assert_eq!(scene.number(counted).await, 0);
    let late = "SELECT count(*) FROM work_queue.late";
    assert_eq!(scene.number(late).await, 0);
}

/// Makes the server count a delivery when the gate is open.
const LATE_COUNT: &str = "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF current_query() LIKE '%deliveries + 1%' THEN PERFORM pg_advisory_xact_lock(7); END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER pause BEFORE UPDATE ON work_queue.work EXECUTE FUNCTION pause()";

/// A delivery that is being counted when the worker gives its jobs back is taken back, too.
#[tokio::test]
async fn a_delivery_that_is_being_counted_is_given_back() {
    let work = crate::primes::Primes;
    let Some(scene) = Scene::new(&work).await else {
        return;
    };
    scene.execute(LATE_COUNT).await;
    let mut gate = scene.pool.acquire().await.unwrap();
    let closed = sqlx::query("SELECT pg_advisory_lock(7)");
    closed.execute(&mut *gate).await.unwrap();
    submit_primes(&scene, 1).await;
    let worker = scene.worker(Arc::new(work), worker_options("w")).await;
    let counting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND state = 'active' AND query LIKE 'UPDATE work_queue.work SET deliveries = deliveries + 1%'";
    until(async || scene.number(counting).await == 1).await;
    worker.stopper.stop();
    worker.stopper.stop();
    // Time for a worker that does not wait for the count.
    sleep(Duration::from_millis(300)).await;
    let open = sqlx::query("SELECT pg_advisory_unlock(7)");
    open.execute(&mut *gate).await.unwrap();
    within(worker.task).await.unwrap().unwrap();
    until(async || scene.number(counting).await == 0).await;
    // A job that ended all the same has its delivery.
    let counted = "SELECT count(*) FROM work_queue.work WHERE state = 0 AND deliveries > 0";
    assert_eq!(scene.number(counted).await, 0);
}
