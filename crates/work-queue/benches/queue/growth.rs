//! Costs that may grow: a claim with the rows that are done, the memory of a worker with the jobs that it did.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::postgres::Server;
use work_queue::{Address, Group, Steps};

use crate::scene::{Scene, Wait, seconds};
use crate::{Scale, least, rounded};

/// The threads of a worker. Each claims at most one job for each wait.
const THREADS: usize = 4;

/// The wait between two claims of a thread.
const POLL: Duration = Duration::from_millis(1);

/// The jobs that are submitted at once.
const GROUP: usize = 5000;

fn inputs(count: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|index| Wait::input(index, Duration::ZERO, 0))
        .collect()
}

/// Adds a group of jobs that are done, with their results.
async fn fill(scene: &Scene, rows: usize) {
    let jobs = format!(
        "INSERT INTO work_queue.work (key, kind, semantics, group_id, input, state, deliveries)
            SELECT encode(sha256(n::text::bytea), 'hex'), 'waits', 'waits/1', 'done', '0 0 0', 2, 1
            FROM generate_series(1, {rows}) AS n"
    );
    let results =
        "INSERT INTO work_queue.results (key, output, digest, comparable, worker, delivery, meta)
        SELECT key, '', encode(sha256(''), 'hex'), true, 'bench', 1, '0' FROM work_queue.work";
    for sql in [jobs.as_str(), results, "VACUUM ANALYZE", "CHECKPOINT"] {
        scene.execute(sql).await;
    }
}

/// The deliveries a second of the statement that counts them, one after another.
async fn deliveries(scene: &Scene, round: usize, count: usize) -> f64 {
    let group = Group::of(&Wait, &format!("deliveries {round}")).unwrap();
    let keys = scene.queue.submit(&group, &inputs(count)).await.unwrap();
    let address = Address::parse(&scene.url).unwrap();
    let steps = Steps::open(&address, "bench").await.unwrap();
    let deliver = async {
        for key in &keys {
            assert!(steps.deliver(key).await.unwrap().is_some());
        }
    };
    let (spent, ()) = seconds(deliver).await;
    scene.queue.complete(&group).await.unwrap();
    count as f64 / spent
}

/// Compares databases with few and with many rows that are done.
pub async fn rows(server: &Server, scale: Scale) -> Value {
    let counts = [1000, scale.pick(1_000_000, 100_000)];
    let jobs = scale.pick(4000, 1000);
    let scenes = [Scene::new(server).await, Scene::new(server).await];
    for (scene, rows) in scenes.iter().zip(counts) {
        fill(scene, rows).await;
    }
    let mut turns = [const { Vec::new() }; 2];
    let mut delivered = [const { Vec::new() }; 2];
    for round in 0..scale.pick(6, 2) {
        for (place, scene) in scenes.iter().enumerate() {
            let worker = scene.workers(1, &Wait, THREADS, POLL).await;
            let _warm = scene.turn(&Wait, "warm", &inputs(100)).await;
            let turn = scene
                .turn(&Wait, &format!("claims {round}"), &inputs(jobs))
                .await;
            turns[place].push(turn);
            drop(worker);
            delivered[place].push(1.0 / deliveries(scene, round, jobs).await);
        }
    }
    let each = jobs as f64;
    let [few, many] = turns.map(|turns| {
        let wall = least(turns.iter().map(|turn| turn.wall)) / each;
        let server = least(turns.iter().map(|turn| turn.server)) / each;
        (wall, server)
    });
    let delivered = delivered.map(least);
    let per_s = |wall: f64| (1.0 / wall).round();
    let ms = |seconds: f64| rounded(seconds * 1e3, 3);
    json!({
        "done_rows": counts,
        "jobs": jobs,
        "threads": THREADS,
        "jobs_per_s": [per_s(few.0), per_s(many.0)],
        "jobs_ratio": rounded(few.0 / many.0, 2),
        "server_ms_a_job": [ms(few.1), ms(many.1)],
        "server_ratio": rounded(many.1 / few.1, 2),
        "deliveries_per_s": delivered.map(per_s),
        "deliveries_ratio": rounded(delivered[0] / delivered[1], 2),
    })
}

/// The resident memory of a process in kB.
fn resident(id: u32) -> u64 {
    let path = Path::new("/proc").join(id.to_string()).join("status");
    let status = std::fs::read_to_string(path).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// Lets one worker do many jobs and reads its memory at each tenth.
pub async fn memory(server: &Server, scale: Scale) -> Value {
    let scene = Scene::new(server).await;
    let jobs = scale.pick(100_000, 10_000);
    let group = GROUP.min(jobs / 10);
    let workers = scene.workers(1, &Wait, THREADS, POLL).await;
    let mut tenths = Vec::new();
    let mut wall = 0.0;
    for number in 1..=jobs / group {
        let turn = scene
            .turn(&Wait, &format!("memory {number}"), &inputs(group))
            .await;
        wall += turn.wall;
        if (number * group).is_multiple_of(jobs / 10) {
            tenths.push(resident(workers[0].id()));
        }
    }
    json!({
        "jobs": jobs,
        "threads": THREADS,
        "seconds": rounded(wall, 1),
        "resident_kb_by_tenth": tenths,
        "last_against_first": rounded(tenths[tenths.len() - 1] as f64 / tenths[0] as f64, 3),
    })
}
