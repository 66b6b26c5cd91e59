//! Workers in the process of the test, whose work is not that of the binary.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use llm_client::SystemClock;
use popper_discovery::queue::EvaluationWork;
use serde_json::Value;
use work_queue::{Output, QueueError, Served, Stopper, Work, WorkError, Worker, WorkerOptions};

use super::scene::{Fleet, timing};

/// The work of the binary.
pub fn honest() -> EvaluationWork {
    EvaluationWork::new(Arc::new(SystemClock::new()))
}

/// A worker in this process.
pub struct Double {
    stopper: Stopper,
    thread: JoinHandle<Result<Served, QueueError>>,
}

impl Double {
    pub fn start(fleet: &Fleet, name: &str, work: Arc<dyn Work>) -> Self {
        let mut options = WorkerOptions::new(name);
        options.timing = timing();
        let address = fleet.address();
        let (sender, receiver) = mpsc::channel();
        let serve = async move {
            let worker = Worker::open(&address, work, options).await?;
            sender.send(worker.stopper()).unwrap();
            worker.serve().await
        };
        let thread = thread::spawn(|| bin_support::block_on(serve).unwrap());
        Self {
            stopper: receiver.recv().unwrap(),
            thread,
        }
    }

    pub fn stop(self) -> Served {
        self.stopper.stop();
        self.thread.join().unwrap().unwrap()
    }
}

/// Adds a note to the first verdict of its first job: nothing shows that it is not true.
pub struct Liar {
    work: EvaluationWork,
    has_lied: AtomicBool,
}

impl Liar {
    pub fn new() -> Self {
        Self {
            work: honest(),
            has_lied: AtomicBool::new(false),
        }
    }
}

impl Work for Liar {
    fn kind(&self) -> &str {
        self.work.kind()
    }

    fn semantics(&self) -> &str {
        self.work.semantics()
    }

    fn run(&self, input: &[u8], stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
        let mut output = self.work.run(input, stop)?;
        if !self.has_lied.swap(true, Ordering::Relaxed) {
            let mut verdicts: Value = serde_json::from_slice(&output.bytes).unwrap();
            verdicts[0]["notes"] = serde_json::json!(["a note that is not true"]);
            output.bytes = serde_json::to_vec(&verdicts).unwrap();
        }
        Ok(output)
    }
}

/// Computes something else, under the same kind.
pub struct Stranger;

/// The semantics of [`Stranger`].
pub const STRANGE: &str = "popper.evaluate/0;of another program";

impl Work for Stranger {
    fn kind(&self) -> &'static str {
        "popper.evaluate"
    }

    fn semantics(&self) -> &'static str {
        STRANGE
    }

    fn run(&self, _: &[u8], _: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
        Ok(Output::new("strange"))
    }
}
