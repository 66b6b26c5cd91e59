//! A worker in a separate process: the bench, started again.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use work_queue::{Address, Work, Worker, WorkerOptions};

use super::kinds::{Primes, Wait};

/// The first argument of the process of a worker.
const CHILD: &str = "worker";

/// A worker's process, which is stopped when this is dropped.
pub struct WorkerProcess(Child);

/// The name of a worker, which its sessions have, too.
fn name(process: u32) -> String {
    format!("bench worker {process}")
}

impl WorkerProcess {
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts itself again")]
    pub fn start(url: &str, kind: &str, threads: usize, poll: Duration) -> Self {
        let [threads, poll] = [threads.to_string(), poll.as_millis().to_string()];
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([CHILD, url, kind, &threads, &poll]);
        // The worker ends with its stdin.
        let process = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        Self(process.unwrap())
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    pub fn name(&self) -> String {
        name(self.id())
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _reaped = self.0.wait();
    }
}

/// Serves as the process of a worker, if the arguments say so. Returns whether they did.
#[expect(
    clippy::disallowed_methods,
    reason = "the worker ends with the bench that has the other end of its stdin"
)]
pub fn serve(arguments: &[String]) -> bool {
    let [first, url, kind, threads, poll] = arguments else {
        return false;
    };
    if first != CHILD {
        return false;
    }
    let kinds: [Arc<dyn Work>; 2] = [Arc::new(Primes), Arc::new(Wait)];
    let work = kinds.into_iter().find(|work| work.kind() == kind).unwrap();
    let mut options = WorkerOptions::new(&name(std::process::id()));
    options.threads = threads.parse().unwrap();
    options.poll = Duration::from_millis(poll.parse().unwrap());
    let address = Address::parse(url).unwrap();
    runtime().block_on(async {
        let worker = Worker::open(&address, work, options).await.unwrap();
        let stopper = worker.stopper();
        std::thread::spawn(move || {
            let _ended = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            stopper.stop();
        });
        worker.serve().await.unwrap();
    });
    true
}

/// A runtime on one thread, as a worker has.
pub fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}
