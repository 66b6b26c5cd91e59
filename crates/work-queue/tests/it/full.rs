//! A server that takes no more rows, as its disk is full.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use test_support::postgres::{self, Server};
use work_queue::{Output, QueueError, Work, WorkError};

use crate::scene::{Scene, answer, skipped, worker_options};
use crate::scripted::Scripted;

/// The room for each file, with half of a page at its end: a file of the server's log is smaller, so only the jobs do not fit.
const ROOM: &str = "20975616";

/// Limits the files of a server, which answers then as on a full disk. False where that cannot be done.
async fn limit(server: &Server, scene: &Scene, bytes: &str) -> bool {
    let sessions = sqlx::query_scalar("SELECT pid FROM pg_stat_activity");
    let sessions: Vec<i32> = sessions.fetch_all(&scene.pool).await.unwrap();
    let owner = server.socket_folder().metadata().unwrap();
    let limited = |id: &str| {
        let mut prlimit = Command::new("prlimit");
        prlimit.uid(owner.uid()).gid(owner.gid());
        prlimit.args([format!("--pid={id}"), format!("--fsize={bytes}:")]);
        prlimit.output().is_ok_and(|set| set.status.success())
    };
    for id in sessions {
        // It may have ended.
        limited(&id.to_string());
    }
    // Sessions to come have the limit of the server.
    let file = server.socket_folder().join("data/postmaster.pid");
    let text = std::fs::read_to_string(file).unwrap();
    limited(text.lines().next().unwrap())
}

/// The size of an input.
struct Sizes;

impl Work for Sizes {
    fn kind(&self) -> &'static str {
        "sizes"
    }

    fn semantics(&self) -> &'static str {
        "sizes/1"
    }

    fn run(&self, input: &[u8], _stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
        Ok(Output::new(input.len().to_string()))
    }
}

#[tokio::test]
async fn a_full_disk_takes_the_same_jobs_later() {
    let Some(server) = postgres::server() else {
        return;
    };
    let scene = Scene::on(&server, &Sizes).await;
    if !limit(&server, &scene, ROOM).await {
        return skipped("the size of a server's files cannot be limited");
    }
    // Three transactions of 8 MiB that cannot be compressed, of which two fit.
    let mut random = ChaCha20Rng::seed_from_u64(5);
    let inputs: Vec<Vec<u8>> = (0..24)
        .map(|_| {
            let mut input = vec![0; 1 << 20];
            random.fill_bytes(&mut input);
            input
        })
        .collect();
    let counts = async || {
        let rows = ["work_queue.work", "graphile_worker._private_jobs"];
        let count =
            async |table: &str| scene.number(&format!("SELECT count(*) FROM {table}")).await;
        [count(rows[0]).await, count(rows[1]).await]
    };
    for _ in 0..2 {
        let error = scene.queue.submit(&scene.group, &inputs).await.unwrap_err();
        assert!(matches!(error, QueueError::Database { .. }), "{error:?}");
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("could not extend file"), "{cause}");
        assert_eq!(counts().await, [16, 16]);
    }
    assert!(limit(&server, &scene, "unlimited").await);
    let keys = scene.queue.submit(&scene.group, &inputs).await.unwrap();
    assert_eq!(counts().await, [24, 24]);
    let worker = scene.worker(Arc::new(Sizes), worker_options("a")).await;
    let mut taken = std::collections::HashSet::new();
    let mut notices = scene.queue.listen(&scene.group).await.unwrap();
    while taken.len() < 24 {
        for job in scene.queue.collect(&scene.group, &mut taken).await.unwrap() {
            assert_eq!(answer(&job.outcome), "1048576");
            assert!(keys.contains(&job.key));
        }
        notices.wait().await;
    }
    assert_eq!(worker.stop().await.finished, 24);
    assert_eq!(counts().await, [24, 0]);
    let twice = "SELECT count(*) FROM work_queue.work WHERE deliveries <> 1";
    assert_eq!(scene.number(twice).await, 0);
}

/// However often a result cannot be stored: the job is not the one to be isolated.
#[tokio::test]
async fn a_result_that_cannot_be_stored_is_not_counted_against_its_job() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene
        .execute("ALTER TABLE work_queue.results RENAME TO away")
        .await;
    scene.submit(&["echo 1"]).await;
    let worker = scene.worker(work.clone(), worker_options("a")).await;
    let failed = "SELECT count(*) FROM graphile_worker._private_jobs
        WHERE locked_by IS NULL AND last_error LIKE '%results%'";
    let again = "UPDATE graphile_worker._private_jobs SET run_at = now(), last_error = NULL";
    for _ in 0..7 {
        scene.reaches(failed, 1).await;
        assert_eq!(
            scene.queue.jobs(&scene.group).await.unwrap()[0].deliveries,
            0
        );
        scene.execute(again).await;
    }
    scene.reaches(failed, 1).await;
    scene
        .execute("ALTER TABLE work_queue.away RENAME TO results")
        .await;
    scene.execute(again).await;
    assert_eq!(answer(&scene.collect(1).await["echo 1"]), "echo 1");
    worker.stop().await;
}
