//! The costs of a job without work, of a submit, and of a round trip.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::postgres::Server;
use work_queue::{Group, Queue};

use crate::scene::{Scene, Turn, Wait, median, seconds};
use crate::{Scale, least, rounded};

/// The wait between two claims, so short that it does not count.
const POLL: Duration = Duration::from_millis(1);

/// The bytes of a large output.
const LARGE: usize = 100 << 10;

/// The bytes of an input.
const INPUT: usize = 1000;

/// Jobs that wait for no time.
fn inputs(count: usize, bytes: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|index| Wait::input(index, Duration::ZERO, bytes))
        .collect()
}

pub async fn measure(server: &Server, scale: Scale) -> Value {
    let rounds = scale.pick(5, 2);
    let counts = scale.pick([1000, 5000], [300, 1000]);
    let mut turns = Turns::default();
    for _ in 0..rounds {
        turns.round(server, counts).await;
    }
    let scene = Scene::new(server).await;
    let trip = round_trip(&scene).await;
    let (submit, submit_job) = submit(&scene, rounds * 2).await;
    let [small, large, two, bytes] =
        [&turns.small, &turns.large, &turns.two, &turns.bytes].map(Each::best_ms);
    let kb = (LARGE >> 10) as f64;
    json!({
        "round_trip_ms": rounded(trip * 1e3, 3),
        "submit": submit,
        "submit_job_ms": rounded(submit_job * 1e3, 4),
        "job_counts": counts,
        "job_ms": rounded(small[0], 3),
        "job_median_ms": rounded(median(turns.small.wall) * 1e3, 3),
        "job_server_ms": rounded(small[1], 3),
        "job_large_ms": rounded(large[0], 3),
        "job_large_server_ms": rounded(large[1], 3),
        "job_two_workers_ms": rounded(two[0], 3),
        "job_kb_us": rounded((bytes[0] - small[0]) / kb * 1e3, 2),
        "job_kb_server_us": rounded((bytes[1] - small[1]) / kb * 1e3, 2),
        "poll_server_ms": rounded(least(turns.polls) * 1e3, 4),
    })
}

/// The seconds of a job: on the clock, and of the server's processor.
#[derive(Default)]
struct Each {
    wall: Vec<f64>,
    server: Vec<f64>,
}

impl Each {
    fn add(&mut self, turn: Turn, jobs: usize) {
        self.wall.push(turn.wall / jobs as f64);
        self.server.push(turn.server / jobs as f64);
    }

    fn best_ms(&self) -> [f64; 2] {
        [&self.wall, &self.server].map(|values| least(values.iter().copied()) * 1e3)
    }
}

/// The turns that were taken.
#[derive(Default)]
struct Turns {
    small: Each,
    large: Each,
    bytes: Each,
    two: Each,
    polls: Vec<f64>,
}

impl Turns {
    /// Takes turns in a new database.
    async fn round(&mut self, server: &Server, counts: [usize; 2]) {
        let scene = Scene::new(server).await;
        let turn = async |id: &str, jobs, bytes| scene.turn(&Wait, id, &inputs(jobs, bytes)).await;
        let one = scene.workers(1, &Wait, 1, POLL).await;
        let _warm = turn("warm", 50, 0).await;
        self.polls.push(idle_poll(&scene).await);
        self.small.add(turn("small", counts[0], 0).await, counts[0]);
        let half = counts[0] / 2;
        self.bytes.add(turn("bytes", half, LARGE).await, half);
        self.large.add(turn("large", counts[1], 0).await, counts[1]);
        drop(one);
        let _two = scene.workers(2, &Wait, 1, POLL).await;
        let _warm = turn("warm 2", 50, 0).await;
        self.two.add(turn("two", counts[0], 0).await, counts[0]);
    }
}

/// The seconds of the server's processor that a claim takes which finds nothing.
async fn idle_poll(scene: &Scene) -> f64 {
    let before = scene.server_seconds().await;
    let (passed, ()) = seconds(tokio::time::sleep(Duration::from_secs(2))).await;
    let spent = scene.server_seconds().await - before;
    spent / (passed / POLL.as_secs_f64())
}

/// The seconds of a statement that does nothing.
async fn round_trip(scene: &Scene) -> f64 {
    let ask = async || {
        sqlx::query_scalar::<_, i32>("SELECT 1")
            .fetch_one(&scene.pool)
            .await
            .unwrap()
    };
    let mut spent = Vec::new();
    for _ in 0..500 {
        spent.push(seconds(ask()).await.0);
    }
    median(spent)
}

/// Submits 1,000 jobs with inputs of 1 kB in one transaction, alone and next to 9,000 others.
/// Returns the figures and the seconds of a job in the best turn.
async fn submit(scene: &Scene, rounds: usize) -> (Value, f64) {
    let (mut alone, mut crowded) = (Vec::new(), Vec::new());
    let input = |index: usize| format!("{index:0INPUT$}").into_bytes();
    let jobs = |from: usize, count: usize| (from..from + count).map(input).collect::<Vec<_>>();
    let timed = async |queue: &Queue, group: &Group, from: usize| {
        let inputs = jobs(from, 1000);
        seconds(async { queue.submit(group, &inputs).await.unwrap() })
            .await
            .0
    };
    for round in 0..rounds {
        let group = Group::of(&Wait, &format!("submit {round}")).unwrap();
        alone.push(timed(&scene.queue, &group, 0).await);
        scene.queue.submit(&group, &jobs(1000, 8000)).await.unwrap();
        crowded.push(timed(&scene.queue, &group, 9000).await);
        scene.queue.complete(&group).await.unwrap();
    }
    let best = least(alone.iter().copied());
    let figures = json!({
        "jobs": 1000,
        "input_bytes": INPUT,
        "best_ms": rounded(best * 1e3, 1),
        "median_ms": rounded(median(alone) * 1e3, 1),
        "next_to_9000_best_ms": rounded(least(crowded.iter().copied()) * 1e3, 1),
        "next_to_9000_median_ms": rounded(median(crowded) * 1e3, 1),
    });
    (figures, best / 1000.0)
}
