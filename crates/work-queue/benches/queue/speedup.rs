//! The speed-up of more workers: on jobs that wait, which other load on the machine does not slow down, and on jobs that compute, next
//! to that of plain threads in the same round.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::postgres::Server;
use work_queue::Work;

use crate::scene::{Primes, Scene, Wait};
use crate::{Scale, least, rounded};

/// The time of a job on one core.
const JOB: Duration = Duration::from_millis(250);

/// The wait between two claims that a worker has by default.
const POLL: Duration = Duration::from_millis(100);

/// The numbers that a job looks at, so that it takes about [`JOB`].
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn calibrated() -> u64 {
    let mut length = 100;
    loop {
        let begin = Instant::now();
        std::hint::black_box(Primes::count(0, length));
        let spent = begin.elapsed();
        if spent * 4 > JOB {
            return (length as f64 * JOB.as_secs_f64() / spent.as_secs_f64()) as u64;
        }
        length *= 2;
    }
}

/// The seconds that plain threads of this process take for the jobs.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn plain(threads: usize, jobs: usize, length: u64) -> f64 {
    let begin = Instant::now();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= jobs {
                        return;
                    }
                    std::hint::black_box(Primes::count(index as u64, length));
                }
            });
        }
    });
    begin.elapsed().as_secs_f64()
}

/// The time of the first against that of the second, in each round.
fn ratios(slow: &[f64], fast: &[f64]) -> Vec<f64> {
    let ratios = slow.iter().zip(fast).map(|(slow, fast)| slow / fast);
    ratios.map(|ratio| rounded(ratio, 2)).collect()
}

/// The seconds of one, two and four workers in each round.
struct Walls([Vec<f64>; 3]);

impl Walls {
    /// Adds a round, in which the numbers of workers take turns.
    async fn round(&mut self, scene: &Scene, work: &dyn Work, inputs: &[Vec<u8>]) {
        for (walls, count) in self.0.iter_mut().zip([1, 2, 4]) {
            let _workers = scene.workers(count, work, 1, POLL).await;
            let id = format!("{} {} {count} {}", work.kind(), inputs.len(), walls.len());
            walls.push(scene.turn(work, &id, inputs).await.wall);
        }
    }

    fn figures(&self, jobs: usize) -> Value {
        let best = self.0.clone().map(|walls| rounded(least(walls), 2));
        json!({
            "jobs": jobs,
            "workers_1_2_4_s": best,
            "two_against_one": rounded(best[0] / best[1], 2),
            "two_against_one_by_round": ratios(&self.0[0], &self.0[1]),
            "four_against_two": rounded(best[1] / best[2], 2),
            "four_against_two_by_round": ratios(&self.0[1], &self.0[2]),
        })
    }
}

pub async fn measure(server: &Server, scale: Scale) -> Value {
    let scene = Scene::new(server).await;
    let length = calibrated();
    let (mut waits, mut computes) = (Vec::new(), Vec::new());
    for (jobs, rounds) in scale.pick([(32, 5), (96, 2)], [(8, 1), (16, 1)]) {
        let mut waiting = Walls(Default::default());
        let mut computing = Walls(Default::default());
        let mut threads: [Vec<f64>; 2] = Default::default();
        let inputs = |input: &dyn Fn(usize) -> Vec<u8>| (0..jobs).map(input).collect::<Vec<_>>();
        let pauses = inputs(&|index| Wait::input(index, JOB, 0));
        let ranges = inputs(&|index| Primes::input(index, length));
        for _ in 0..rounds {
            waiting.round(&scene, &Wait, &pauses).await;
            for (walls, count) in threads.iter_mut().zip([1, 2]) {
                walls.push(plain(count, jobs, length));
            }
            computing.round(&scene, &Primes, &ranges).await;
        }
        waits.push(waiting.figures(jobs));
        let mut figures = computing.figures(jobs);
        let best = threads.clone().map(least);
        figures["threads_1_2_s"] = json!(best.map(|wall| rounded(wall, 2)));
        figures["two_threads_against_one"] = json!(rounded(best[0] / best[1], 2));
        figures["two_threads_against_one_by_round"] = json!(ratios(&threads[0], &threads[1]));
        computes.push(figures);
    }
    json!({ "job_ms": JOB.as_millis() as u64, "waits": waits, "computes": computes })
}
