//! Faults of workers, of the server and of the network: afterwards each job has one result, as if nothing had happened.

use std::sync::Arc;
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use test_support::postgres::{self, Server};
use tokio::time::sleep;
use work_queue::{Address, Queue, QueueError, Worker};

use crate::child::WorkerProcess;
use crate::primes::{Primes, ranges};
use crate::proxy::{Harm, Proxy};
use crate::scene::{Scene, answer, problem, queue_options, until, within, worker_options};
use crate::scripted::Scripted;

const LOCKED: &str =
    "SELECT count(*) FROM graphile_worker._private_jobs WHERE locked_by IS NOT NULL";
const ROWS: &str = "SELECT count(*) FROM graphile_worker._private_jobs";
const OPEN: &str = "SELECT count(*) FROM work_queue.work WHERE state = 0";

/// Random waits of a seed.
pub struct Waits(ChaCha20Rng);

impl Waits {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }

    /// An instant within the next `millis` milliseconds.
    pub async fn next(&mut self, millis: u64) {
        sleep(Duration::from_micros(self.0.next_u64() % (millis * 1000))).await;
    }
}

/// Submits ranges whose primes are counted, tens of milliseconds of work each in a test build.
pub async fn submit_primes(scene: &Scene, count: u64) {
    let ranges = ranges(count, 12_000);
    let inputs: Vec<_> = ranges.iter().map(String::as_str).collect();
    scene.submit(&inputs).await;
}

/// Checks that each job has its one result, none a conflict, and that the results are those of an undisturbed run.
pub async fn each_once(scene: &Scene, count: usize) {
    let ended = scene.collect(count).await;
    assert_eq!(ended.len(), count);
    for (input, outcome) in ended.iter().step_by(7) {
        let output = work_queue::Work::run(&Primes, input.as_bytes(), &|| false).unwrap();
        assert_eq!(answer(outcome).as_bytes(), output.bytes);
    }
    assert_eq!(
        scene
            .number("SELECT count(*) FROM work_queue.results")
            .await,
        count as i64
    );
    assert_eq!(
        scene.number("SELECT count(*) FROM work_queue.work").await,
        count as i64
    );
    assert_eq!(
        scene
            .number("SELECT count(*) FROM work_queue.conflicts")
            .await,
        0
    );
    scene.reaches(ROWS, 0).await;
}

#[tokio::test]
async fn killed_workers_20() {
    kill_workers(20, 100).await;
}

#[tokio::test]
#[ignore = "long: 200 kills"]
async fn killed_workers_200() {
    kill_workers(200, 1000).await;
}

async fn kill_workers(kills: usize, jobs: u64) {
    let Some(scene) = Scene::new(&Primes).await else {
        return;
    };
    submit_primes(&scene, jobs).await;
    let _notices = scene.queue.listen(&scene.group).await.unwrap();
    let mut waits = Waits::new(1);
    let start = |number: usize| WorkerProcess::start(&scene, "primes", &format!("w{number}"));
    let mut workers = [start(0), start(1)];
    for number in 0..kills {
        waits.next(300).await;
        let victim = &mut workers[number % 2];
        victim.kill();
        *victim = start(number + 2);
    }
    each_once(&scene, jobs as usize).await;
    // At most the jobs that the dead had are done twice.
    let extra = "SELECT (sum(deliveries) - count(*))::bigint FROM work_queue.work";
    assert!(scene.number(extra).await <= kills as i64);
}

#[tokio::test]
async fn all_workers_killed_2() {
    kill_all(2).await;
}

#[tokio::test]
#[ignore = "long: 10 times all workers"]
async fn all_workers_killed_10() {
    kill_all(10).await;
}

/// The coordinator alone frees the jobs of the dead; they are done when a worker starts.
async fn kill_all(times: usize) {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let _notices = scene.queue.listen(&scene.group).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    for time in 0..times {
        // They end when there is a file.
        let file = folder.path().join(time.to_string());
        let input = format!("file {}", file.display());
        scene
            .submit(&[&input, &format!("echo {time};{input}")])
            .await;
        let mut dead = [0, 1].map(|n| WorkerProcess::start(&scene, "s", &format!("dead {n}")));
        scene.reaches(LOCKED, 2).await;
        dead.iter_mut().for_each(WorkerProcess::kill);
        scene.reaches(LOCKED, 0).await;
        assert_eq!(scene.number(OPEN).await, 2);
        std::fs::write(file, "").unwrap();
        let workers = [0, 1].map(|n| WorkerProcess::start(&scene, "s", &format!("alive {n}")));
        scene.reaches(OPEN, 0).await;
        drop(workers);
    }
    assert_eq!(scene.collect(2 * times).await.len(), 2 * times);
}

#[tokio::test]
async fn server_restarts_3() {
    restart_server(postgres::server(), 3).await;
}

#[tokio::test]
#[ignore = "long: 20 restarts busy, 20 idle"]
async fn server_restarts_20() {
    restart_server(postgres::durable_server(), 20).await;
}

/// Restarts at random instants while the worker is busy, then while it is idle.
async fn restart_server(server: Option<Server>, times: usize) {
    let Some(mut server) = server else {
        return;
    };
    let scene = Scene::on(&server, &Primes).await;
    let jobs = 30 * times as u64;
    submit_primes(&scene, jobs).await;
    let mut options = worker_options("a");
    options.threads = 2;
    let worker = scene.worker(Arc::new(Primes), options).await;
    let mut waits = Waits::new(2);
    for _ in 0..times {
        waits.next(400).await;
        server.restart();
    }
    each_once(&scene, jobs as usize).await;
    for _ in 0..times {
        server.restart();
        waits.next(200).await;
    }
    // A worker that was idle through all of them takes the next job.
    scene.submit(&["0-100"]).await;
    let ended = scene.collect(jobs as usize + 1).await;
    assert_eq!(answer(&ended["0-100"]), "25");
    // Results that a crash made the server forget are counted twice.
    assert!(worker.stop().await.finished > jobs);
}

#[tokio::test]
async fn server_away_for_3_s() {
    server_away(postgres::server(), Duration::from_secs(3)).await;
}

#[tokio::test]
#[ignore = "long: 10 s"]
async fn server_away_for_10_s() {
    server_away(postgres::durable_server(), Duration::from_secs(10)).await;
}

/// While the server is away a worker uses little of a core and says little.
async fn server_away(server: Option<Server>, time: Duration) {
    let Some(mut server) = server else {
        return;
    };
    let scene = Scene::on(&server, &Primes).await;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let settings = [("CHILD_LOG", log.to_str().unwrap())];
    let mut worker = WorkerProcess::start_at(&scene.url, "primes", "waits", &settings);
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
    let before = cpu_ticks(worker.id());
    sleep(time).await;
    let used = cpu_ticks(worker.id()) - before;
    assert!(
        used * 10 < 50 * time.as_millis() as u64 / 100,
        "{used} ticks of 10 ms in {time:?}"
    );
    assert!(!worker.has_ended());
    server.begin();
    submit_primes(&scene, 3).await;
    each_once(&scene, 3).await;
    // One line for each try; the waits between them double.
    let lines = std::fs::read_to_string(log).unwrap();
    let tries = lines
        .lines()
        .filter(|line| line.ends_with("trying again"))
        .count();
    assert!(
        (1..=12).contains(&tries) && lines.lines().count() <= tries + 3,
        "{lines}"
    );
}

/// The processor time of a process in hundredths of a second.
fn cpu_ticks(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let fields: Vec<_> = text
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let tick = |index: usize| {
        fields
            .get(index)
            .and_then(|field| field.parse::<u64>().ok())
            .unwrap_or(0)
    };
    tick(11) + tick(12)
}

#[tokio::test]
async fn ended_sessions_5() {
    end_sessions(5).await;
}

#[tokio::test]
#[ignore = "long: 50 times"]
async fn ended_sessions_50() {
    end_sessions(50).await;
}

async fn end_sessions(times: usize) {
    let Some(scene) = Scene::new(&Primes).await else {
        return;
    };
    let jobs = 20 * times as u64;
    submit_primes(&scene, jobs).await;
    let worker = scene.worker(Arc::new(Primes), worker_options("a")).await;
    let mut waits = Waits::new(3);
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for _ in 0..times {
        waits.next(300).await;
        scene.number(end).await;
    }
    each_once(&scene, jobs as usize).await;
    worker.stop().await;
}

/// Harms the connections of a worker a number of times.
async fn harm(harm: Harm, times: usize) {
    let Some(scene) = Scene::new(&Primes).await else {
        return;
    };
    let proxy = Proxy::start(&scene.url);
    let mut options = worker_options("a");
    options.timing.stall = Duration::from_millis(1500);
    let address = Address::parse(&proxy.url).unwrap();
    let worker = Worker::open(&address, Arc::new(Primes), options)
        .await
        .unwrap();
    let (stopper, task) = (worker.stopper(), tokio::spawn(worker.serve()));
    let _notices = scene.queue.listen(&scene.group).await.unwrap();
    for time in 0..times {
        proxy.harms.set(harm);
        let ranges: Vec<_> = ranges(3, 1000)
            .iter()
            .map(|range| format!("{}{range}", time + 1))
            .collect();
        scene
            .submit(&ranges.iter().map(String::as_str).collect::<Vec<_>>())
            .await;
        until(async || proxy.harms.done() > time).await;
        scene.reaches(OPEN, 0).await;
    }
    let ended = scene.collect(3 * times).await;
    assert_eq!(ended.len(), 3 * times);
    assert_eq!(
        scene
            .number("SELECT count(*) FROM work_queue.conflicts")
            .await,
        0
    );
    stopper.stop();
    within(task).await.unwrap().unwrap();
}

#[tokio::test]
async fn claims_without_an_answer_3() {
    harm(Harm::CutClaim, 3).await;
}

#[tokio::test]
#[ignore = "long: 30 times"]
async fn claims_without_an_answer_30() {
    harm(Harm::CutClaim, 30).await;
}

#[tokio::test]
async fn answers_cut_within_5() {
    harm(Harm::CutWithin, 5).await;
}

#[tokio::test]
#[ignore = "long: 30 times"]
async fn answers_cut_within_30() {
    harm(Harm::CutWithin, 30).await;
}

#[tokio::test]
async fn stalled_connections_2() {
    harm(Harm::Stall, 2).await;
}

#[tokio::test]
#[ignore = "long: 30 times"]
async fn stalled_connections_30() {
    harm(Harm::Stall, 30).await;
}

#[tokio::test]
async fn uncertain_commits_3() {
    cut_commits(3).await;
}

#[tokio::test]
#[ignore = "long: 30 times"]
async fn uncertain_commits_30() {
    cut_commits(30).await;
}

/// A coordinator whose COMMIT gets no answer repeats it, without effect.
async fn cut_commits(times: usize) {
    let Some(scene) = Scene::new(&Primes).await else {
        return;
    };
    let proxy = Proxy::start(&scene.url);
    let queue = Queue::open(&Address::parse(&proxy.url).unwrap(), &queue_options())
        .await
        .unwrap();
    for time in 0..times {
        proxy.harms.set(Harm::CutCommit);
        let input = format!("{time}-100").into_bytes();
        queue.submit(&scene.group, &[input]).await.unwrap();
        assert_eq!(proxy.harms.done(), time + 1);
    }
    assert_eq!(scene.number(ROWS).await, times as i64);
    assert_eq!(scene.number(OPEN).await, times as i64);
    proxy.harms.set(Harm::CutCommit);
    queue.complete(&scene.group).await.unwrap();
    assert_eq!(scene.number(ROWS).await + scene.number(OPEN).await, 0);
}

#[tokio::test]
async fn a_server_that_never_answers_ends_a_call_after_the_patience() {
    let Some(scene) = Scene::new(&Primes).await else {
        return;
    };
    let proxy = Proxy::start(&scene.url);
    let mut options = queue_options();
    (options.timing.stall, options.timing.patience) =
        (Duration::from_mins(1), Duration::from_millis(300));
    let queue = Queue::open(&Address::parse(&proxy.url).unwrap(), &options).await;
    // The limit may be over before the first answer on a busy machine.
    let Ok(queue) = queue else { return };
    proxy.harms.set(Harm::Silence);
    let error = within(queue.submit(&scene.group, &[b"0-10".to_vec()]))
        .await
        .unwrap_err();
    assert!(matches!(error, QueueError::Lost { .. }), "{error:?}");
}

#[tokio::test]
async fn stopped_processes_2() {
    stop_processes(2).await;
}

#[tokio::test]
#[ignore = "long: 20 times"]
async fn stopped_processes_20() {
    stop_processes(20).await;
}

/// A process that is stopped beyond its lease: another does the job, and the late result changes nothing.
async fn stop_processes(times: usize) {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let _notices = scene.queue.listen(&scene.group).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let delivered =
        "SELECT coalesce(max(deliveries), 0)::bigint FROM work_queue.work WHERE state = 0";
    let mut sleeper = WorkerProcess::start(&scene, "s", "sleeper");
    for time in 0..times {
        // Both end when there is a file.
        let file = folder.path().join(time.to_string());
        scene.submit(&[&format!("file {}", file.display())]).await;
        scene.reaches(delivered, 1).await;
        sleeper.signal("-STOP");
        let settings = [("CHILD_DRAIN", "1")];
        let mut other = WorkerProcess::start_at(&scene.url, "s", "other", &settings);
        scene.reaches(delivered, 2).await;
        std::fs::write(file, "").unwrap();
        assert!(other.ended().await.success());
        sleeper.signal("-CONT");
        let late = "SELECT count(*) FROM work_queue.late";
        scene.reaches(late, time as i64 + 1).await;
    }
    // It works on.
    scene.submit(&["echo 1"]).await;
    let ended = scene.collect(times + 1).await;
    assert_eq!(answer(&ended["echo 1"]), "echo 1");
    assert!(!sleeper.has_ended());
    assert_eq!(
        scene
            .number("SELECT count(*) FROM work_queue.conflicts")
            .await,
        0
    );
}

/// A job that never returns ends its process each time, and the others are done.
#[tokio::test]
async fn a_job_that_never_returns() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["stubborn", "echo 1", "echo 2"]).await;
    let _notices = scene.queue.listen(&scene.group).await.unwrap();
    let limits = [("CHILD_JOB_LIMIT", "300"), ("CHILD_STOP_LIMIT", "300")];
    let mut deaths = 0;
    let mut worker = WorkerProcess::start_at(&scene.url, "s", "0", &limits);
    while scene.number(OPEN).await > 0 {
        if worker.has_ended() {
            deaths += 1;
            worker = WorkerProcess::start_at(&scene.url, "s", &deaths.to_string(), &limits);
        }
        sleep(Duration::from_millis(10)).await;
    }
    // A busy machine may hold up another job, too.
    assert!((5..=8).contains(&deaths), "{deaths}");
    let ended = scene.collect(3).await;
    assert_eq!(
        problem(&ended["stubborn"]),
        "its evaluation ended the worker 5 times"
    );
}

/// One clear line for each thing that an operator can get wrong.
#[tokio::test]
async fn what_cannot_work_says_why() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let open = async |url: &str| {
        let address = Address::parse(url).unwrap();
        let opened = Worker::open(&address, work.clone(), worker_options("a")).await;
        let error = opened.map(drop).unwrap_err();
        let cause = std::error::Error::source(&error)
            .map(ToString::to_string)
            .unwrap_or_default();
        format!("{error}: {cause}")
    };
    let name = scene.url.split(['/', '?']).nth(3).unwrap();
    let absent = open(&scene.url.replace(name, "no_such_database")).await;
    assert!(
        absent.contains("database \"no_such_database\" does not exist"),
        "{absent}"
    );
    let stranger = open(&scene.url.replace("postgres@", "no_such_role@")).await;
    assert!(
        stranger.contains("role \"no_such_role\" does not exist"),
        "{stranger}"
    );
    let role = format!("nothing_{}", name.trim_start_matches("test_"));
    scene.execute(&format!("CREATE ROLE {role} LOGIN")).await;
    let denied = open(&scene.url.replace("postgres@", &format!("{role}@"))).await;
    assert!(
        denied.contains("permission denied for schema work_queue"),
        "{denied}"
    );
    scene.execute(&format!("DROP ROLE {role}")).await;
    let encoded = format!("{name}_ascii");
    scene
        .execute(&format!(
            "CREATE DATABASE {encoded} TEMPLATE template0 ENCODING 'SQL_ASCII'"
        ))
        .await;
    let wrong = open(&scene.url.replace(name, &encoded)).await;
    assert!(
        wrong.contains("has the encoding SQL_ASCII; create one with UTF8"),
        "{wrong}"
    );
    scene
        .execute(&format!("DROP DATABASE {encoded} WITH (FORCE)"))
        .await;
    let empty = open(&scene.url.replace(name, "postgres")).await;
    assert!(
        empty.contains("there is no work queue for this program"),
        "{empty}"
    );
}

#[tokio::test]
async fn many_migrate_at_once() {
    let Some(database) = postgres::database() else {
        return;
    };
    let address = Address::parse(database.url()).unwrap();
    let options = queue_options();
    let all = (0..4).map(|_| Queue::migrate(&address, &options));
    for migrated in futures_util::future::join_all(all).await {
        migrated.unwrap();
    }
    Queue::open(&address, &options).await.unwrap();
}
