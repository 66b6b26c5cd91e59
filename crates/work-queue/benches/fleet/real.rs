//! A real run of one and two workers, against the simulation with costs that the same run measures.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use test_support::postgres::{Server, durable_server};
use work_queue::{Group, Work};

use crate::scene::{Primes, Scene, Wait, median, seconds};
use crate::simulation::{Costs, Fleet, simulate};
use crate::station::exponential;

/// The laws of an iteration.
const LAWS: usize = 200;

/// The laws of a shard.
const SHARD: usize = 25;

/// The mean times of a law in seconds. Shards of the first are longer than the wait between two claims, those of the second shorter.
const LAW: [f64; 2] = [0.01, 0.001];

/// The time of a plan.
const PLAN: Duration = Duration::from_millis(500);

/// The wait between two claims that a worker has by default.
const POLL: Duration = Duration::from_millis(100);

/// The bytes that a commit writes for a law.
const LAW_BYTES: usize = 7 << 10;

/// The part by which the real run may differ from its prediction.
const MARGIN: f64 = 0.25;

/// The times of the laws of a run.
#[derive(Clone, Copy)]
struct LawTimes {
    /// The mean time in seconds.
    mean: f64,
    /// The numbers that a core looks at in a second if the laws compute; `None` if they wait, which takes no core from the server.
    speed: Option<f64>,
}

impl LawTimes {
    fn name(self) -> String {
        let kind = self.speed.map_or("wait", |_| "compute");
        format!("{kind} {:.0} ms", self.mean * 1e3)
    }

    fn input(self, index: usize, seconds: f64) -> Vec<u8> {
        match self.speed {
            Some(speed) => Primes::input(index, (seconds * speed) as u64),
            None => Wait::input(index, Duration::from_secs_f64(seconds), 100),
        }
    }

    fn work(self) -> &'static dyn Work {
        self.speed.map_or(&Wait, |_| &Primes)
    }
}

/// A coordinator with its database.
struct Coordinator {
    scene: Scene,
    random: ChaCha20Rng,
    groups: usize,
}

/// The seconds of a coordinator, and its laws.
#[derive(Debug, Default, Clone, Copy)]
struct Spent {
    cycles: usize,
    shards: usize,
    wall: f64,
    submit: f64,
    /// Plan, and what an iteration needs once.
    plan: f64,
    collect: f64,
    collects: usize,
    /// The time of the laws in the workers.
    laws: f64,
}

impl Coordinator {
    async fn new(server: &Server) -> Self {
        let scene = Scene::new(server).await;
        scene
            .execute(
                "CREATE TABLE bench_laws (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text BYTEA NOT NULL);
                ALTER TABLE bench_laws ALTER COLUMN text SET STORAGE EXTERNAL",
            )
            .await;
        Self {
            scene,
            random: ChaCha20Rng::seed_from_u64(18),
            groups: 0,
        }
    }

    /// Commits laws as a store does: durable, in one transaction.
    async fn commit(&mut self, laws: usize) -> f64 {
        let mut text = || {
            let mut bytes = vec![0; LAW_BYTES];
            self.random.fill_bytes(&mut bytes);
            bytes
        };
        let texts: Vec<_> = (0..laws).map(|_| text()).collect();
        let insert = "INSERT INTO bench_laws (text) SELECT unnest($1::bytea[])";
        let query = sqlx::query(insert).bind(texts);
        seconds(query.execute(&self.scene.pool)).await.0
    }

    /// Plans, submits, collects and commits once.
    async fn cycle(&mut self, times: LawTimes, spent: &mut Spent) {
        let work = times.work();
        self.groups += 1;
        let group = Group::of(work, &format!("iteration {}", self.groups)).unwrap();
        let sizes = (0..LAWS)
            .step_by(SHARD)
            .map(|first| SHARD.min(LAWS - first));
        let sizes: Vec<_> = sizes.collect();
        let inputs: Vec<_> = sizes
            .iter()
            .enumerate()
            .map(|(index, laws)| {
                let each = (0..*laws).map(|_| exponential(&mut self.random, times.mean));
                times.input(index, each.sum())
            })
            .collect();
        let (plan, ()) = seconds(tokio::time::sleep(PLAN)).await;
        let (submit, keys) = seconds(self.scene.queue.submit(&group, &inputs)).await;
        let mut notices = self.scene.queue.listen(&group).await.unwrap();
        let sizes: HashMap<_, _> = keys.unwrap().into_iter().zip(sizes).collect();
        let (mut taken, mut committed) = (HashSet::new(), 0);
        while committed < LAWS {
            let collect = self.scene.queue.collect(&group, &mut taken);
            let (collect, jobs) = seconds(collect).await;
            spent.collect += collect;
            spent.collects += 1;
            let laws = jobs.unwrap().iter().map(|job| sizes[&job.key]).sum();
            if laws == 0 {
                notices.wait().await;
            } else {
                self.commit(laws).await;
                committed += laws;
            }
        }
        let worked = "SELECT sum(meta::bigint)::float8 FROM work_queue.results";
        let micros: f64 = sqlx::query_scalar(worked)
            .fetch_one(&self.scene.pool)
            .await
            .unwrap();
        let (complete, ended) = seconds(self.scene.queue.complete(&group)).await;
        ended.unwrap();
        spent.laws += micros / 1e6;
        spent.submit += submit;
        spent.plan += plan + complete;
        spent.cycles += 1;
        spent.shards += sizes.len();
    }

    /// Some cycles with a number of workers.
    async fn run(&mut self, times: LawTimes, workers: usize, cycles: usize) -> Spent {
        let _workers = self.scene.workers(workers, times.work(), 1, POLL).await;
        // The first one opens sessions.
        Box::pin(self.cycle(times, &mut Spent::default())).await;
        let mut spent = Spent::default();
        let run = async {
            for _ in 0..cycles {
                Box::pin(self.cycle(times, &mut spent)).await;
            }
        };
        let (wall, ()) = seconds(run).await;
        spent.wall = wall;
        spent
    }

    /// The costs, as this machine has them now.
    async fn costs(&mut self) -> Costs {
        let (mut one, mut many) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            one.push(self.commit(1).await);
            many.push(self.commit(101).await);
        }
        let [one, many] = [one, many].map(median);
        let commit_law = (many - one).max(0.0) / 100.0;
        let _worker = self
            .scene
            .workers(1, &Wait, 1, Duration::from_millis(1))
            .await;
        let (mut walls, mut servers) = (Vec::new(), Vec::new());
        for round in 0..5 {
            let count = 100;
            let inputs: Vec<_> = (0..count)
                .map(|index| Wait::input(index, Duration::ZERO, 100))
                .collect();
            let id = format!("no work {} {round}", self.groups);
            let turn = self.scene.turn(&Wait, &id, &inputs).await;
            walls.push((turn.wall - turn.work) / count as f64);
            servers.push(turn.server / count as f64);
        }
        let [wall, job] = [walls, servers].map(median);
        Costs {
            job,
            job_kb: 0.0,
            poll: 0.04e-3,
            commit: (one - commit_law).max(0.0),
            commit_law,
            submit_shard: 0.0,
            // The rest of the time of a job without work, for each of its four statements.
            round_trip: ((wall - job) / 4.0).max(0.0),
            // The measured times include the log.
            output_kb: 0.0,
            commit_kb: 0.0,
            submit_kb: 0.0,
        }
    }
}

/// The speed of one core at the jobs that compute, in numbers a second.
async fn speed() -> f64 {
    let length = 50_000;
    let mut best = f64::INFINITY;
    for index in 0..5 {
        let count = async { std::hint::black_box(Primes::count(index, length)) };
        best = best.min(seconds(count).await.0);
    }
    length as f64 / best
}

/// The laws a second that the simulation expects with the costs of this machine and of the run itself.
fn predicted(mut costs: Costs, spent: &Spent, workers: usize, cores: usize) -> f64 {
    let per = |seconds: f64, count: usize| seconds / count as f64;
    costs.submit_shard = per(spent.submit, spent.shards);
    costs.commit += per(spent.collect, spent.collects);
    // With the time that a law waited for a core.
    let law = per(spent.laws, spent.cycles * LAWS);
    let fleet = Fleet {
        workers,
        coordinators: 1,
        laws: LAWS,
        law,
        plan: per(spent.plan, spent.cycles),
        shard: law * (SHARD as f64 + 0.5),
        poll: POLL.as_secs_f64(),
        cores,
        log: f64::INFINITY,
        seconds: 3000.0,
    };
    simulate(&costs, &fleet, 18).laws_per_s
}

/// Runs workers in turn and returns a line for each; `None` where no server can run.
pub async fn lines(is_quick: bool) -> Option<Vec<String>> {
    let server = durable_server()?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (cycles, rounds) = if is_quick { (3, 1) } else { (8, 2) };
    let mut lines = Vec::new();
    let speed = Some(speed().await);
    let runs = [
        (LAW[0], None, rounds),
        (LAW[0], speed, rounds),
        (LAW[1], None, 1),
    ];
    for (mean, speed, rounds) in runs {
        let times = LawTimes { mean, speed };
        for _ in 0..rounds {
            let mut coordinator = Coordinator::new(&server).await;
            let costs = coordinator.costs().await;
            let one = coordinator.run(times, 1, cycles).await;
            let two = coordinator.run(times, 2, cycles).await;
            for (workers, spent) in [(1, one), (2, two)] {
                let measured = (spent.cycles * LAWS) as f64 / spent.wall;
                let predicted = predicted(costs, &spent, workers, cores);
                lines.push(line(times, workers, &costs, measured, predicted));
            }
        }
    }
    Some(lines)
}

fn line(times: LawTimes, workers: usize, costs: &Costs, measured: f64, predicted: f64) -> String {
    let ratio = measured / predicted;
    let is_near = (ratio - 1.0).abs() <= MARGIN;
    let verdict = if is_near {
        "within 25 %"
    } else {
        "**not within 25 %**"
    };
    let job = (costs.job + 4.0 * costs.round_trip) * 1e3;
    format!(
        "| {} | {workers} | {job:.2} ms | {measured:.1} | {predicted:.1} | {ratio:.2} | {verdict} |",
        times.name()
    )
}
