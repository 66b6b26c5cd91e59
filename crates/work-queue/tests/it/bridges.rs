//! The additions of this crate to the engine, one test for each: without it the test fails.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use test_support::postgres;
use tokio::time::sleep;
use work_queue::{Address, JobState, QueueError, Worker};

use crate::child::WorkerProcess;
use crate::log;
use crate::scene::{Scene, answer, problem, until, within, worker_options};
use crate::scripted::Scripted;

const LOCKED: &str =
    "SELECT count(*) FROM graphile_worker._private_jobs WHERE locked_by IS NOT NULL";
const ROWS: &str = "SELECT count(*) FROM graphile_worker._private_jobs";

/// 1: the engine ends at any failed statement; the worker builds another one, and the job at hand continues.
#[tokio::test]
async fn one_a_worker_outlives_a_restart_of_the_server() {
    log::keep();
    let Some(mut server) = postgres::server() else {
        return;
    };
    let work = Scripted::new("s");
    let scene = Scene::on(&server, &*work).await;
    scene.submit(&["gate", "echo before"]).await;
    let mut options = worker_options("a");
    // The second thread is idle, and meets the lost connection.
    options.threads = 2;
    let worker = scene.worker(work.clone(), options).await;
    scene
        .reaches("SELECT count(*) FROM work_queue.results", 1)
        .await;
    until(async || work.waiting() == 1).await;
    let first = "SELECT engine_id FROM work_queue.workers";
    let first: String = sqlx::query_scalar(first)
        .fetch_one(&scene.pool)
        .await
        .unwrap();
    server.crash();
    // The engine meets the loss.
    let lost = format!("{}: ", scene.address);
    until(async || {
        let lines = log::lines();
        lines
            .lines()
            .any(|line| line.contains(&lost) && line.ends_with("trying again"))
    })
    .await;
    server.begin();
    let other = format!("SELECT count(*) FROM work_queue.workers WHERE engine_id <> '{first}'");
    scene.reaches(&other, 1).await;
    work.open_gate();
    scene.submit(&["echo after"]).await;
    let ended = scene.collect(3).await;
    assert_eq!(
        [answer(&ended["gate"]), answer(&ended["echo after"])],
        ["gate", "echo after"]
    );
    // The one at hand ran once. A crash may make the server forget the newest result, which is made again.
    assert_eq!(work.waits.load(Ordering::SeqCst), 1);
    assert!(worker.stop().await.finished >= 3);
}

/// 1: the worker gives up after its patience, with one clear line.
#[tokio::test]
async fn one_a_worker_gives_up_after_its_patience() {
    let Some(mut server) = postgres::server() else {
        return;
    };
    let work = Scripted::new("s");
    let scene = Scene::on(&server, &*work).await;
    let mut options = worker_options("a");
    options.timing.patience = Duration::from_secs(6);
    let worker = scene.worker(work.clone(), options).await;
    until(async || {
        scene
            .queue
            .workers()
            .await
            .unwrap()
            .iter()
            .any(|it| it.is_alive)
    })
    .await;
    server.crash();
    let error = worker.ended().await.unwrap_err();
    assert!(matches!(error, QueueError::Lost { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.starts_with("postgres://postgres@/") && text.contains(": no connection for 6 s"),
        "{text}"
    );
    server.begin();
}

/// 1: a server that can be reached and lets no engine start is given up, too.
#[tokio::test]
async fn one_a_worker_gives_up_an_engine_that_cannot_start() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let mut options = worker_options("a");
    options.timing.stall = Duration::from_millis(500);
    let mut lock = scene.pool.begin().await.unwrap();
    let table = "LOCK TABLE graphile_worker._private_tasks IN ACCESS EXCLUSIVE MODE";
    sqlx::query(table).execute(&mut *lock).await.unwrap();
    options.timing.patience = Duration::from_secs(6);
    let worker = Worker::open(&scene.address, work.clone(), options)
        .await
        .unwrap();
    let error = within(worker.serve()).await.unwrap_err();
    assert!(matches!(error, QueueError::Lost { .. }), "{error:?}");
    lock.rollback().await.unwrap();
}

/// 1: a claim whose answer was lost stays with a live worker, which does not know of it, until the watchdog looks.
#[tokio::test]
async fn one_a_lost_claim_of_a_live_worker_is_found() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["gate"]).await;
    let worker = scene.worker(work.clone(), worker_options("a")).await;
    until(async || work.waiting() == 1).await;
    // Its one thread is busy.
    scene.submit(&["echo 1"]).await;
    scene
        .execute(
            "UPDATE graphile_worker._private_jobs SET locked_at = now(),
            locked_by = (SELECT engine_id FROM work_queue.workers) WHERE locked_by IS NULL",
        )
        .await;
    let other = scene.worker(work.clone(), worker_options("b")).await;
    assert_eq!(answer(&scene.collect(1).await["echo 1"]), "echo 1");
    work.open_gate();
    scene.collect(2).await;
    worker.stop().await;
    other.stop().await;
}

/// 1: a stop does not wait for a server that is away.
#[tokio::test]
async fn one_a_stop_needs_no_server() {
    log::keep();
    let Some(mut server) = postgres::server() else {
        return;
    };
    let work = Scripted::new("s");
    let scene = Scene::on(&server, &*work).await;
    scene.submit(&["gate"]).await;
    let mut options = worker_options("a");
    options.threads = 2;
    options.grace = Duration::from_millis(100);
    let worker = scene.worker(work.clone(), options).await;
    until(async || work.waiting() == 1).await;
    server.crash();
    let lost = format!("{}: ", scene.address);
    until(async || log::lines().contains(&lost)).await;
    assert_eq!(worker.stop().await.finished, 0);
    work.open_gate();
    server.begin();
}

/// 2: only running workers sweep; a coordinator that waits does it too.
#[tokio::test]
async fn two_a_coordinator_alone_frees_the_jobs_of_the_dead() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["gate"]).await;
    let mut worker = WorkerProcess::start(&scene, "s", "dies");
    scene.reaches(LOCKED, 1).await;
    worker.kill();
    // The listening coordinator sweeps.
    let _notices = scene.queue.listen(&scene.group).await.unwrap();
    scene.reaches(LOCKED, 0).await;
    assert_eq!(scene.number(ROWS).await, 1);
}

/// 3: the engine takes its attempt back when a worker dies; the deliveries count it.
#[tokio::test]
async fn three_deliveries_count_the_dead() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["abort"]).await;
    let _notices = scene.queue.listen(&scene.group).await.unwrap();
    for death in 1..=2 {
        let mut worker = WorkerProcess::start(&scene, "s", "dies");
        assert!(!worker.ended().await.success());
        scene.reaches(LOCKED, 0).await;
        assert_eq!(
            scene
                .number("SELECT attempts::bigint FROM graphile_worker._private_jobs")
                .await,
            0
        );
        assert_eq!(
            scene.queue.jobs(&scene.group).await.unwrap()[0].deliveries,
            death
        );
    }
}

/// 4: a stuck job keeps its worker's sign of life, so the process must end.
#[tokio::test]
async fn four_a_stuck_job_ends_its_process() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let keys = scene.submit(&["stubborn"]).await;
    let mut options = worker_options("a");
    (options.job_limit, options.stop_limit) =
        (Duration::from_millis(20), Duration::from_millis(20));
    let worker = scene.worker(work.clone(), options).await;
    let error = worker.ended().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("job {} did not stop: this process ends", keys[0])
    );
    // It counts, and stays with the dead worker until its lease ends.
    assert_eq!(
        scene.queue.jobs(&scene.group).await.unwrap()[0].deliveries,
        1
    );
    assert_eq!(scene.number(LOCKED).await, 1);
    work.open_gate();
}

/// 5: an error makes the engine wait, so it receives none but those of the database.
#[tokio::test]
async fn five_the_engine_hears_of_errors_of_the_database_alone() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["panic", "bad"]).await;
    let worker = scene.worker(work.clone(), worker_options("a")).await;
    let ended = scene.collect(2).await;
    assert_eq!(problem(&ended["panic"]), "its evaluation panicked twice");
    assert_eq!(problem(&ended["bad"]), "the input says that it is bad");
    scene.reaches(ROWS, 0).await;

    scene
        .execute("ALTER TABLE work_queue.results RENAME TO gone")
        .await;
    scene.submit(&["echo 1"]).await;
    let told = "SELECT count(*) FROM graphile_worker._private_jobs WHERE run_at > now() AND last_error LIKE '%results%'";
    scene.reaches(told, 1).await;
    scene
        .execute("ALTER TABLE work_queue.gone RENAME TO results")
        .await;
    scene
        .execute("UPDATE graphile_worker._private_jobs SET run_at = now()")
        .await;
    assert_eq!(answer(&scene.collect(3).await["echo 1"]), "echo 1");
    worker.stop().await;
}

/// 6: the engine deletes the row of a job that another worker has; the result is there before.
#[tokio::test]
async fn six_a_job_with_a_result_does_nothing_when_it_is_delivered_again() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let keys = scene.submit(&["echo 1"]).await;
    let flag = "SELECT jsonb_object_keys(flags) FROM graphile_worker._private_jobs";
    let flag: String = sqlx::query_scalar(flag)
        .fetch_one(&scene.pool)
        .await
        .unwrap();
    let worker = scene.worker(work.clone(), worker_options("a")).await;
    scene.collect(1).await;
    scene.reaches(ROWS, 0).await;
    let again = format!(
        "SELECT id FROM graphile_worker.add_job('work', '{{\"key\": \"{}\"}}'::json, flags => ARRAY['{flag}'])",
        keys[0],
    );
    scene.execute(&again).await;
    scene.reaches(ROWS, 0).await;
    assert_eq!(work.runs(), 1);
    assert_eq!(
        scene.queue.jobs(&scene.group).await.unwrap()[0].deliveries,
        1
    );
    worker.stop().await;

    // A row of the engine that is gone without a result is made again, by a submit and by a coordinator that listens.
    scene.submit(&["echo 2"]).await;
    scene
        .execute("DELETE FROM graphile_worker._private_jobs")
        .await;
    scene.submit(&["echo 2"]).await;
    assert_eq!(scene.number(ROWS).await, 1);
    scene
        .execute("DELETE FROM graphile_worker._private_jobs")
        .await;
    let _notices = scene.queue.listen(&scene.group).await.unwrap();
    scene.reaches(ROWS, 1).await;
}

/// 7: the start of the engine migrates; a worker checks before, and changes nothing.
#[tokio::test]
async fn seven_a_worker_migrates_nothing() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let open = async || Worker::open(&scene.address, work.clone(), worker_options("a")).await;
    assert!(open().await.is_ok());
    let newer = "INSERT INTO graphile_worker.migrations (id, breaking) VALUES (23, false)";
    scene.execute(newer).await;
    let error = open().await.unwrap_err();
    let expected = format!(
        "{}: schema graphile_worker has version 23, this program knows 22; use a newer program",
        scene.address
    );
    assert_eq!(error.to_string(), expected);
    scene
        .execute("DELETE FROM graphile_worker.migrations WHERE id >= 22")
        .await;
    assert!(matches!(open().await, Err(QueueError::Missing { .. })));
    assert_eq!(
        scene
            .number("SELECT max(id)::bigint FROM graphile_worker.migrations")
            .await,
        21
    );
    scene.execute("DROP SCHEMA graphile_worker CASCADE").await;
    assert!(matches!(open().await, Err(QueueError::Missing { .. })));
    assert_eq!(
        scene
            .number("SELECT count(*) FROM pg_namespace WHERE nspname = 'graphile_worker'")
            .await,
        0
    );
    scene.execute("INSERT INTO work_queue._sqlx_migrations SELECT 2, description, installed_on, success, checksum, execution_time
        FROM work_queue._sqlx_migrations").await;
    let error = open().await.unwrap_err();
    assert!(
        matches!(
            error,
            QueueError::Newer {
                schema: "work_queue",
                found: 2,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
}

/// The address of a database for another role.
fn address(scene: &Scene, role: &str) -> Address {
    Address::parse(&scene.url.replacen("postgres@", &format!("{role}@"), 1)).unwrap()
}

/// 8: the engine switches row security on without policies; the migration makes those for workers.
#[tokio::test]
async fn eight_a_worker_needs_no_right_but_those_of_its_group() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let role = format!(
        "worker_{}",
        scene
            .number("SELECT oid::bigint FROM pg_database WHERE datname = current_database()")
            .await
    );
    scene
        .execute(&format!(
            "CREATE ROLE {role} LOGIN IN ROLE work_queue_worker"
        ))
        .await;
    scene.submit(&["echo 1", "echo 2;panic"]).await;
    let worker = Worker::open(&address(&scene, &role), work.clone(), worker_options("a"))
        .await
        .unwrap();
    let (stopper, task) = (worker.stopper(), tokio::spawn(worker.serve()));
    let ended = scene.collect(3).await;
    assert_eq!(answer(&ended["echo 2"]), "echo 2");
    stopper.stop();
    task.await.unwrap().unwrap();

    for table in ["jobs", "tasks", "job_queues"] {
        scene
            .execute(&format!(
                "DROP POLICY work_queue_worker ON graphile_worker._private_{table}"
            ))
            .await;
    }
    scene
        .execute("DELETE FROM graphile_worker._private_tasks")
        .await;
    let worker = Worker::open(&address(&scene, &role), work.clone(), worker_options("b"))
        .await
        .unwrap();
    let error = within(worker.serve()).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        matches!(error, QueueError::Database { .. }) && cause.contains("row-level security"),
        "{error:?}"
    );
    scene
        .execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"))
        .await;
}

/// 9: the engine logs its jobs, errors included; they hold a key and no input, and its log is left out here.
#[tokio::test]
async fn nine_no_input_is_logged() {
    log::keep();
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let keys = scene
        .submit(&["echo a-law-that-is-secret", "bad a-law-that-is-secret"])
        .await;
    for key in &keys {
        let payload = format!(
            "SELECT count(*) FROM graphile_worker._private_jobs
                WHERE key = '{key}' AND payload::jsonb = jsonb_build_object('key', '{key}')"
        );
        assert_eq!(scene.number(&payload).await, 1);
    }
    let worker = scene.worker(work.clone(), worker_options("a")).await;
    scene.collect(2).await;
    scene.reaches(ROWS, 0).await;
    worker.stop().await;
    let lines = log::lines();
    assert!(lines.contains(&keys[0]), "{lines}");
    assert!(!lines.contains("a-law-that-is-secret"), "{lines}");
    assert!(!lines.contains(" graphile_worker"), "{lines}");
}

/// A stop lets jobs end, gives those that do not back after the grace, and at the second time at once.
#[tokio::test]
async fn a_stop_counts_no_delivery() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["gate"]).await;
    let mut options = worker_options("a");
    options.grace = Duration::from_millis(50);
    let worker = scene.worker(Arc::clone(&work) as Arc<_>, options).await;
    until(async || work.waiting() == 1).await;
    assert_eq!(worker.stop().await.finished, 0);
    let job = |jobs: Vec<work_queue::JobRow>| (jobs[0].state, jobs[0].deliveries);
    assert_eq!(
        job(scene.queue.jobs(&scene.group).await.unwrap()),
        (JobState::Open, 0)
    );
    assert_eq!(scene.number(LOCKED).await, 0);

    let worker = scene
        .worker(Arc::clone(&work) as Arc<_>, worker_options("b"))
        .await;
    until(async || work.waiting() == 1).await;
    worker.stopper.stop();
    worker.stopper.stop();
    assert_eq!(worker.ended().await.unwrap().finished, 0);
    assert_eq!(
        job(scene.queue.jobs(&scene.group).await.unwrap()),
        (JobState::Open, 0)
    );
    // Others get it at once, and not only after one lease.
    assert_eq!(scene.number(LOCKED).await, 0);
    let worker = scene
        .worker(Arc::clone(&work) as Arc<_>, worker_options("c"))
        .await;
    until(async || work.waiting() == 1).await;
    worker.stopper.stop();
    work.open_gate();
    assert_eq!(worker.ended().await.unwrap().finished, 1);
}

/// A worker that is asked to end before it is listed has taken no job, for a job taken then is never given back.
#[tokio::test]
async fn a_worker_takes_no_job_before_it_is_listed() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["gate"]).await;
    let mut lock = scene.pool.begin().await.unwrap();
    let table = "LOCK TABLE work_queue.workers IN SHARE MODE";
    sqlx::query(table).execute(&mut *lock).await.unwrap();
    let worker = scene
        .worker(Arc::clone(&work) as Arc<_>, worker_options("a"))
        .await;
    let listing = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO work_queue.workers%'";
    scene.reaches(listing, 1).await;
    // An engine that worked would claim the job now.
    sleep(Duration::from_millis(300)).await;
    worker.stopper.stop();
    assert_eq!((work.waiting(), scene.number(LOCKED).await), (0, 0));
    lock.rollback().await.unwrap();
    assert_eq!(worker.ended().await.unwrap().finished, 0);
    let job = &scene.queue.jobs(&scene.group).await.unwrap()[0];
    assert_eq!((job.state, job.deliveries), (JobState::Open, 0));
    assert_eq!(scene.number(LOCKED).await, 0);
}
