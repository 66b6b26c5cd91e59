//! Workers in separate processes: this test binary, started again.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;
use work_queue::{Address, Group, Queue, QueueError, ServeEnd, Work, Worker, WorkerOptions};

use crate::primes::Primes;
use crate::scene::{Scene, queue_options, within, worker_options};
use crate::scripted::Scripted;

/// A worker's process, which is killed when this is dropped.
pub struct WorkerProcess(Child);

impl WorkerProcess {
    pub fn start(scene: &Scene, work: &str, name: &str) -> Self {
        Self::start_at(&scene.url, work, name, &[])
    }

    /// Starts a worker of the kind `work` at an address, with the settings that [`worker_process`] reads.
    pub fn start_at(url: &str, work: &str, name: &str, settings: &[(&str, &str)]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "child::worker_process",
            "--exact",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ]);
        command
            .env("CHILD_URL", url)
            .env("CHILD_WORK", work)
            .env("CHILD_NAME", name);
        command.envs(settings.iter().copied());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Kills the process at once.
    pub fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Sends a signal by name.
    pub fn signal(&self, name: &str) {
        test_support::program::signal(self.id(), name);
    }

    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// Waits for the end of the process.
    pub async fn ended(&mut self) -> ExitStatus {
        within(async {
            loop {
                if let Some(status) = self.0.try_wait().unwrap() {
                    return status;
                }
                sleep(std::time::Duration::from_millis(5)).await;
            }
        })
        .await
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _reaped = self.0.wait();
    }
}

fn options(name: &str) -> WorkerOptions {
    let mut options = worker_options(name);
    let millis = |name: &str| {
        Some(std::time::Duration::from_millis(
            std::env::var(name).ok()?.parse().unwrap(),
        ))
    };
    options.job_limit = millis("CHILD_JOB_LIMIT").unwrap_or(options.job_limit);
    options.stop_limit = millis("CHILD_STOP_LIMIT").unwrap_or(options.stop_limit);
    options.timing.patience = millis("CHILD_PATIENCE").unwrap_or(options.timing.patience);
    options.timing.stall = millis("CHILD_STALL").unwrap_or(options.timing.stall);
    options.timing.lease = millis("CHILD_LEASE").unwrap_or(options.timing.lease);
    options.grace = millis("CHILD_GRACE").unwrap_or(options.grace);
    options.drain = std::env::var_os("CHILD_DRAIN").is_some();
    options.host = clock_secs().to_string();
    options
}

/// The clock of this process in seconds.
fn clock_secs() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap().as_secs().cast_signed()
}

/// The worker of a process that another test has started. By itself it does nothing.
#[tokio::test]
#[ignore = "the process of a worker, which other tests start"]
async fn worker_process() {
    let Ok(url) = std::env::var("CHILD_URL") else {
        return;
    };
    let mut terminated = signal(SignalKind::terminate()).unwrap();
    if let Ok(path) = std::env::var("CHILD_READY") {
        std::fs::write(path, "").unwrap();
    }
    if let Ok(log) = std::env::var("CHILD_LOG") {
        let file = std::fs::File::create(log).unwrap();
        tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(std::sync::Mutex::new(file))
            .init();
    }
    let work: Arc<dyn Work> = match std::env::var("CHILD_WORK").unwrap().as_str() {
        "primes" => Arc::new(Primes),
        semantics => Scripted::new(semantics),
    };
    let address = Address::parse(&url).unwrap();
    let options = options(&std::env::var("CHILD_NAME").unwrap());
    if let Ok(input) = std::env::var("CHILD_SUBMIT") {
        let queue = Queue::open(&address, &queue_options()).await.unwrap();
        let group = Group::of(&*work, "run 1").unwrap();
        queue.submit(&group, &[input.into_bytes()]).await.unwrap();
    }
    let worker = Worker::open(&address, work, options).await.unwrap();
    let stopper = worker.stopper();
    tokio::spawn(async move {
        while terminated.recv().await.is_some() {
            stopper.stop();
        }
    });
    match worker.serve().await {
        Ok(served) if served.reason == ServeEnd::Stopped => std::process::exit(130),
        Ok(_) => std::process::exit(0),
        Err(QueueError::Stuck { .. }) => std::process::abort(),
        Err(error) => panic!("{error}"),
    }
}
