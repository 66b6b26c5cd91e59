//! The share of the queue in jobs that take a quarter of a second, as workers of a run have them.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::postgres::Server;

use crate::scene::{Scene, Wait};
use crate::{Scale, least, rounded};

/// The time of a job.
const JOB: Duration = Duration::from_millis(250);

/// The wait between two claims that a worker has by default.
const POLL: Duration = Duration::from_millis(100);

/// Lets a worker do jobs one after another and two at a time. A share is the time of a thread against the time of its jobs.
pub async fn measure(server: &Server, scale: Scale) -> Value {
    let scene = Scene::new(server).await;
    let mut rows = Vec::new();
    for (jobs, rounds) in scale.pick([(40, 3), (160, 1)], [(8, 1), (16, 1)]) {
        let mut shares = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            for (place, threads) in [1, 2].into_iter().enumerate() {
                let _worker = scene.workers(1, &Wait, threads, POLL).await;
                let inputs: Vec<_> = (0..jobs).map(|index| Wait::input(index, JOB, 0)).collect();
                let id = format!("share {jobs} {round} {threads}");
                let turn = scene.turn(&Wait, &id, &inputs).await;
                shares[place].push(turn.wall * threads as f64 / turn.work);
            }
        }
        let [one, two] = shares.map(|shares| rounded(least(shares), 3));
        rows.push(json!({
            "jobs": jobs,
            "job_ms": JOB.as_millis() as u64,
            "poll_ms": POLL.as_millis() as u64,
            "one_thread": one,
            "two_threads": two,
        }));
    }
    json!(rows)
}
