//! One run of the engine, from its start to the first failed statement or to the stop.

use std::fmt;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use graphile_worker::{IntoTaskHandlerResult, TaskHandler, WorkerContext};
use serde::{Deserialize, Serialize};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tracing::subscriber::{NoSubscriber, with_default};

use super::failure::EngineFailure;
use super::settings::{EngineSettings, options};
use crate::connection::{Durability, pool};

/// The sessions of the engine: one listens, two claim, complete and give signs of life for all threads.
const SESSIONS: u32 = 3;

/// The time in which a run that fails can say why.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The end of a delivery. An error makes the engine wait before it gives the job out again.
pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// The receiver of jobs.
pub(crate) trait Handler: Send + Sync {
    /// Works on the job with this key. The future may be dropped.
    fn deliver(self: Arc<Self>, key: String) -> HandlerFuture;
}

/// The handler as the engine keeps it.
#[derive(Clone)]
struct Receiver(Arc<dyn Handler>);

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver")
    }
}

/// The contents of a job for the engine, which writes them into its log: no input.
#[derive(Serialize, Deserialize)]
struct Payload {
    key: String,
}

impl TaskHandler for Payload {
    const IDENTIFIER: &'static str = super::TASK;

    async fn run(self, context: WorkerContext) -> impl IntoTaskHandlerResult {
        match context.get_ext::<Receiver>() {
            Some(receiver) => Arc::clone(&receiver.0).deliver(self.key).await,
            None => Err("no receiver".to_owned()),
        }
    }
}

/// A run of the engine on a separate thread and runtime, so that dropping this ends all of it at once: sessions, tasks, and
/// statements that get no answer.
pub(crate) struct EngineRun {
    id: String,
    begin: Option<oneshot::Sender<()>>,
    ended: oneshot::Receiver<Result<(), EngineFailure>>,
    _end: oneshot::Sender<()>,
}

impl EngineRun {
    /// Starts the engine, which claims no job before [`Self::begin`], and none after `stop` became `true`.
    pub(crate) async fn start(
        settings: EngineSettings,
        handler: Arc<dyn Handler>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, EngineFailure> {
        let (started, id) = oneshot::channel();
        let (begin, begun) = oneshot::channel();
        let (end, ending) = oneshot::channel::<()>();
        let (sender, ended) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| EngineFailure::of(&error))?;
        let work = async move {
            tokio::select! {
                biased;
                _ = ending => Ok(()),
                result = run(&settings, handler, stop, started, begun) => result,
            }
        };
        let thread = std::thread::Builder::new().name("engine".to_owned());
        let thread = thread.spawn(move || {
            // The engine logs each job; what a user should know is in the failure.
            let result = with_default(NoSubscriber::new(), || runtime.block_on(work));
            // What is left of it ends here.
            drop(runtime);
            let _unheard = sender.send(result);
        });
        thread.map_err(|error| EngineFailure::of(&error))?;
        let mut this = Self {
            id: String::new(),
            begin: Some(begin),
            ended,
            _end: end,
        };
        if let Ok(id) = id.await {
            this.id = id;
        } else {
            this.ended().await?;
            return Err(EngineFailure::lost("the engine did not start"));
        }
        Ok(this)
    }

    /// The engine's name of this run.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Lets the engine claim jobs.
    pub(crate) fn begin(&mut self) {
        if let Some(begin) = self.begin.take() {
            // An engine that has failed says so at its end.
            let _unheard = begin.send(());
        }
    }

    /// Waits for the end of the run: `Ok` after the stop.
    pub(crate) async fn ended(&mut self) -> Result<(), EngineFailure> {
        let ended = (&mut self.ended).await;
        ended.unwrap_or_else(|_| Err(EngineFailure::lost("the engine panicked")))
    }
}

async fn run(
    settings: &EngineSettings,
    handler: Arc<dyn Handler>,
    stop: watch::Receiver<bool>,
    started: oneshot::Sender<String>,
    begun: oneshot::Receiver<()>,
) -> Result<(), EngineFailure> {
    let pool = pool(
        &settings.address,
        &settings.application,
        SESSIONS,
        Durability::Relaxed,
    );
    let options = options(settings, pool, is_true(stop.clone()))
        .define_job::<Payload>()
        .add_extension(Receiver(handler));
    let worker = options
        .init()
        .await
        .map_err(|error| EngineFailure::of(&error))?;
    let _unheard = started.send(worker.worker_id().clone());
    if begun.await.is_err() {
        return Ok(());
    }
    let mut run = std::pin::pin!(worker.run());
    // At a failed statement the engine waits until its jobs end. They go on without it.
    let failed = async {
        worker.shutdown_signal().clone().await;
        if *stop.borrow() {
            pending::<()>().await;
        }
    };
    let ended = tokio::select! {
        biased;
        ended = &mut run => ended,
        () = failed => match timeout(LAST_WORDS, run).await {
            Ok(ended) => ended,
            Err(_) => return Err(EngineFailure::lost("a statement failed")),
        },
    };
    ended.map_err(|error| EngineFailure::of(&error))
}

/// Waits until the value is `true`, or for ever if it cannot become so.
async fn is_true(mut value: watch::Receiver<bool>) {
    if value.wait_for(|value| *value).await.is_err() {
        pending::<()>().await;
    }
}
