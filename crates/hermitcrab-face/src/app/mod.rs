//! The application: turns, boots and crashes of faces between the pages and the kernel, and the events for all pages.

mod keys;
mod log;
pub(crate) mod methods;
mod review;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use hermitcrab_kernel::conversation::Author;
use hermitcrab_kernel::faces::{FaceRecovery, ShellError};
use hermitcrab_kernel::table::ToolResult;
use hermitcrab_kernel::{
    BootReport, Event, EventSink, Kernel, KernelError, MAX_INPUT, SafeFace, TurnReport,
};
use pscale_blocks::EditAuthor;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::message::{Status, ToPage};
use crate::runtime::Runtime;
use crate::session::{FaceCrash, WebHost};
use crate::token::Rate;

pub use keys::{Keys, NoKeys};

/// The reason for the page's own chat while React is looked for.
const WAITS: &str =
    "the face needs React, which is being installed: it is shown when React is here";

/// The state that all requests share.
pub(crate) struct App {
    pub kernel: Kernel,
    pub host: WebHost,
    pub keys: Arc<dyn Keys>,
    /// The runtime of the next frame.
    runtime: RwLock<Arc<Runtime>>,
    /// No better runtime will come.
    pub runtime_known: CancellationToken,
    pub version: String,
    /// Lines for the person about the start, also for later pages.
    notices: Mutex<Vec<String>>,
    /// A turn or a boot is under way.
    busy: AtomicBool,
    /// The parent of everything that began since the last stop; a child of `end`.
    stop: Mutex<CancellationToken>,
    /// The server ends.
    pub end: CancellationToken,
    /// Faces that faces make.
    faces: Mutex<Rate>,
    /// Messages of the person's.
    messages: Mutex<Rate>,
    /// Messages of faces while the person is absent.
    sayings: Mutex<Rate>,
    /// Calls under way, which continue without their pages.
    pub calls: TaskTracker,
    /// Signals that a key was given, or that the person continues without one.
    decided: Notify,
    /// Signals that a turn or a boot has ended.
    idle: Notify,
}

/// A turn is under way; when this goes it is not any longer.
struct Busy<'a> {
    app: &'a App,
    cancel: CancellationToken,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.app.busy.store(false, Ordering::SeqCst);
        self.app.tell_status();
        self.app.broadcast("busy", json!({ "busy": false }));
        self.app.idle.notify_one();
    }
}

impl App {
    pub fn new(
        kernel: Kernel,
        host: WebHost,
        keys: Arc<dyn Keys>,
        runtime: Runtime,
        version: String,
    ) -> Self {
        let end = CancellationToken::new();
        host.set_react(runtime.is_react());
        Self {
            kernel,
            host,
            keys,
            runtime: RwLock::new(Arc::new(runtime)),
            runtime_known: CancellationToken::new(),
            version,
            notices: Mutex::default(),
            busy: AtomicBool::new(false),
            faces: Mutex::new(Rate::of_faces()),
            messages: Mutex::new(Rate::of_messages()),
            sayings: Mutex::new(Rate::of_faces()),
            stop: Mutex::new(end.child_token()),
            end,
            calls: TaskTracker::new(),
            decided: Notify::new(),
            idle: Notify::new(),
        }
    }

    pub fn notices(&self) -> Vec<String> {
        let notices = self.notices.lock();
        notices.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A line for the person, now and on pages that come later.
    fn note(&self, line: &str) {
        {
            let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
            notices.push(line.to_owned());
        }
        self.broadcast("notice", json!({ "text": line }));
    }

    /// To all pages.
    pub fn broadcast(&self, event: &'static str, data: Value) {
        self.host.broadcast(&ToPage::event(event, data));
    }

    pub fn runtime(&self) -> Arc<Runtime> {
        let runtime = self.runtime.read();
        runtime.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The search for a better runtime has ended: the next frame runs on what it found.
    pub fn found_runtime(&self, better: Option<Runtime>) {
        if let Some(better) = better {
            let is_react = better.is_react();
            let mut runtime = (self.runtime.write()).unwrap_or_else(PoisonError::into_inner);
            *runtime = Arc::new(better);
            drop(runtime);
            self.host.set_react(is_react);
            self.tell_status();
        }
        self.runtime_known.cancel();
    }

    pub fn status(&self) -> Status {
        let (brain, runtime) = (self.kernel.brain(), self.runtime());
        Status {
            model: brain.model,
            fast: brain.fast,
            offline: brain.offline,
            runtime: runtime.label(),
            runtime_reason: runtime.detail().map(str::to_owned),
            key_wanted: self.keys.wanted(),
            busy: self.is_busy(),
        }
    }

    /// Sends the status, as the model may have changed.
    pub fn tell_status(&self) {
        let status = self.status();
        self.host.set_props(json!({
            "version": self.version,
            "model": status.model,
            "fastModel": status.fast,
            "offline": status.offline,
        }));
        self.broadcast("status", json!(status));
    }

    /// The receiver of the kernel's events: all pages. Text goes to the call that waits for it, and in a turn to all pages.
    pub fn sink(self: &Arc<Self>, caller: Option<(u64, u64)>, turn: bool) -> EventSink {
        let app = self.clone();
        EventSink::new(move |event| {
            let (name, data) = match event {
                Event::Delta { text } => {
                    let data = json!({ "text": text });
                    if let Some((page, call)) = caller {
                        let delta = ToPage::Event {
                            event: "delta",
                            data: data.clone(),
                            call: Some(call),
                        };
                        app.host.send(page, delta);
                    }
                    if !turn {
                        return;
                    }
                    ("delta", data)
                }
                Event::ToolStart { name, summary } => (
                    "tool",
                    json!({"name": name, "phase": "start", "summary": summary}),
                ),
                Event::ToolEnd { name, is_error, ms } => (
                    "tool",
                    json!({"name": name, "phase": "end", "is_error": is_error, "ms": ms}),
                ),
                Event::ModelChanged { from, to, why } => {
                    app.tell_status();
                    let text = format!("{to} answers in place of {from}: {why}");
                    ("notice", json!({ "text": text }))
                }
                Event::ShellShown { rev } => ("shells", json!({"rev": rev, "shown": true})),
                Event::ShellFailed { rev, message } => (
                    "shells",
                    json!({"rev": rev, "shown": false, "message": message}),
                ),
                Event::BlockChanged { name } => ("block_changed", json!({ "name": name })),
                Event::Usage(usage) => ("usage", json!(usage)),
                Event::Notice { text } => ("notice", json!({ "text": text })),
                _ => return,
            };
            app.broadcast(name, data);
        })
    }

    /// Whether a turn or a boot is under way.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::SeqCst)
    }

    /// Whether a face may make one more.
    pub fn may_make_face(&self) -> bool {
        take(&self.faces)
    }

    /// Whether a click or a key of the person's may stand for one more message.
    pub fn may_be_said(&self) -> bool {
        take(&self.messages)
    }

    /// Whether a face may say one more thing while no person is at it.
    pub fn may_say(&self) -> bool {
        take(&self.sayings)
    }

    /// Stops what is under way: a turn, and what shells have asked for. Answers whether there was a turn.
    pub fn stop(&self) -> bool {
        let next = self.end.child_token();
        let now = std::mem::replace(&mut *self.stop_token(), next);
        now.cancel();
        self.is_busy()
    }

    /// Fires with the next stop, and at the end.
    pub fn until_stopped(&self) -> CancellationToken {
        self.stop_token().child_token()
    }

    fn stop_token(&self) -> MutexGuard<'_, CancellationToken> {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the place of the one turn at a time.
    fn begin(&self) -> Option<Busy<'_>> {
        if self.busy.swap(true, Ordering::SeqCst) {
            return None;
        }
        let cancel = self.until_stopped();
        self.broadcast("busy", json!({ "busy": true }));
        Some(Busy { app: self, cancel })
    }

    /// The person says something, or the face of a revision, whose token then ends it; `kernel` is that of the face in which it
    /// is said. None: a turn is under way.
    pub async fn say(
        self: &Arc<Self>,
        text: String,
        kernel: &Kernel,
        caller: (u64, u64),
        by_face: Option<(u64, CancellationToken)>,
    ) -> Option<Result<TurnReport, KernelError>> {
        let busy = self.begin()?;
        let by = (by_face.as_ref()).map_or(Author::Person, |(rev, _)| Author::Face(*rev));
        // What the kernel will refuse is no message.
        if text.chars().count() <= MAX_INPUT {
            let said = json!({"role": "user", "by": by, "text": by.says(text.clone())});
            self.broadcast("message", said);
        }
        let events = self.sink(Some(caller), true);
        let turn = match by_face {
            None => kernel.turn(text, events, busy.cancel.clone()).await,
            Some((rev, cancel)) => kernel.turn_of_face(rev, text, events, cancel).await,
        };
        match &turn {
            Ok(report) => {
                self.broadcast("message", json!({"role": "assistant", "text": report.text}));
                if let Some(line) = &report.stopped {
                    self.broadcast("notice", json!({ "text": line }));
                }
                if let Some(errors) = &report.safe_face {
                    self.show_safe("the face could not be repaired", errors.clone())
                        .await;
                }
            }
            // Who asked is told.
            Err(KernelError::TooLong { .. } | KernelError::Empty) => {}
            Err(error) => self.broadcast("notice", json!({"text": error.to_string()})),
        }
        Some(turn)
    }

    /// Wakes the model, or shows the face that is kept. False: a turn is under way.
    pub async fn boot(self: &Arc<Self>) -> bool {
        let Some(busy) = self.begin() else {
            return false;
        };
        let booted = self
            .kernel
            .boot(self.sink(None, true), busy.cancel.clone())
            .await;
        match booted {
            Ok(report) => self.booted(report).await,
            Err(error) => {
                self.note(&error.to_string());
                self.show_safe(&error.to_string(), Vec::new()).await;
            }
        }
        true
    }

    /// Boots at the start of the program. While React is looked for, a kept face that needs it waits, and the page's own chat is
    /// there: the model would otherwise write another one.
    pub async fn start(self: &Arc<Self>) {
        let found = &self.runtime_known;
        let mut waited = !found.is_cancelled() && self.kernel.restores_with_react();
        if waited {
            self.show_safe(WAITS, Vec::new()).await;
            tokio::select! {
                () = found.cancelled() => {}
                () = self.end.cancelled() => {}
            }
        }
        // The person may talk meanwhile, and choose another face or get one from the model.
        let has_face = async || self.host.settled().await.is_some();
        while !(self.end.is_cancelled() || waited && has_face().await || self.boot().await) {
            waited = true;
            self.idle.notified().await;
        }
    }

    async fn booted(&self, report: BootReport) {
        for notice in report.notices {
            self.note(&notice);
        }
        if let Some(SafeFace { reason, errors, .. }) = report.safe_face {
            self.show_safe(&reason, errors).await;
            return;
        }
        self.broadcast(
            "message",
            json!({"role": "assistant", "text": report.greeting}),
        );
    }

    /// Shows the safe face, the chat of the page itself, and why.
    pub async fn show_safe(&self, reason: &str, errors: Vec<ShellError>) {
        self.host.show_safe(reason.to_owned(), errors).await;
    }

    /// Shows another face after one crashed. A shell that crashed twice is not shown again; after the last one comes the page's
    /// own chat.
    pub async fn handle_crash(&self, death: FaceCrash) {
        let FaceCrash { rev, mut error } = death;
        self.broadcast("died", json!({"rev": rev, "error": error}));
        let mut dead = rev;
        loop {
            let next = self.kernel.faces().on_face_crash(dead, &error);
            // Another one became the face in the meantime.
            let Some(vacant) = self.host.vacancy().await else {
                return;
            };
            let FaceRecovery::Shell(next) = next else {
                self.show_safe("no kept face can be shown", vec![error])
                    .await;
                return;
            };
            let input = json!({ "rev": next });
            let (by, events) = (EditAuthor::Person, EventSink::none());
            let shown = (self.kernel).call_tool("shell_use", input, by, events, vacant.clone());
            let shown = shown.await;
            if !shown.is_error {
                self.broadcast("shells", json!({"rev": next, "shown": true}));
                return;
            }
            if vacant.is_cancelled() {
                return;
            }
            dead = next;
            error = error_of(&shown);
        }
    }

    /// Signals that a key was given, or that the person continues without one.
    pub fn decide(&self) {
        self.tell_status();
        self.decided.notify_one();
    }

    /// Stops everything, and waits until what was said is on the disk.
    pub async fn finish(&self) {
        self.end.cancel();
        self.calls.close();
        self.calls.wait().await;
        if let Err(error) = self.kernel.settle().await {
            self.note(&error.to_string());
        }
    }

    /// Waits until a model or the offline script can answer.
    pub async fn wait_for_key(&self) {
        while self.keys.wanted().is_some() {
            self.decided.notified().await;
        }
    }
}

fn take(rate: &Mutex<Rate>) -> bool {
    rate.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// A failure of `use_shell` as an error of the shell.
fn error_of(outcome: &ToolResult) -> ShellError {
    let text = |key: &str| outcome.content[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| outcome.content[key].as_u64().map(|number| number as u32);
    ShellError {
        kind: text("error"),
        message: text("detail"),
        line: number("line"),
        column: number("column"),
        source_line: None,
        truncated: false,
    }
}
