//! The kernel's host: the pages that are open, the frames in them, the face that all of them show.

mod face;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use hermitcrab_kernel::faces::{Host, HostCall, HostError, HostSkills, Mounted, Shell, ShellError};
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use face::FaceView;
use state::SessionState;

use crate::message::{FromPage, ToPage};

/// The time limits of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostLimits {
    /// For a frame to run, which a slow server or another shell can hold up.
    pub load: Duration,
    /// For a shell's first render, from the moment when the page says that its frame runs.
    pub mount: Duration,
    /// For the person, when the browser is to do something.
    pub ask: Duration,
}

impl Default for HostLimits {
    fn default() -> Self {
        Self {
            load: Duration::from_secs(10),
            mount: Duration::from_secs(3),
            ask: Duration::from_mins(1),
        }
    }
}

/// The browser pages as the kernel's [`Host`]. Cheap to clone; clones are one.
#[derive(Debug, Clone)]
pub struct WebHost {
    hub: Arc<FaceSession>,
}

#[derive(Debug)]
struct FaceSession {
    limits: HostLimits,
    state: Mutex<SessionState>,
    /// One shell is tried at a time.
    showing: tokio::sync::Mutex<()>,
    deaths: mpsc::UnboundedSender<FaceCrash>,
    reported: Mutex<Option<mpsc::UnboundedReceiver<FaceCrash>>>,
    arrivals: Notify,
}

/// The face died after it had mounted.
#[derive(Debug)]
pub(crate) struct FaceCrash {
    pub rev: u64,
    pub error: ShellError,
}

/// A page's end of the conversation.
#[derive(Debug)]
pub(crate) struct PageConnection {
    pub page: u64,
    /// The messages for the page.
    pub out: mpsc::Receiver<ToPage>,
    /// The page was too slow and is cut off.
    pub gone: CancellationToken,
}

impl Default for WebHost {
    fn default() -> Self {
        Self::new(HostLimits::default())
    }
}

impl WebHost {
    /// No page is open yet.
    pub fn new(limits: HostLimits) -> Self {
        let (deaths, reported) = mpsc::unbounded_channel();
        Self {
            hub: Arc::new(FaceSession {
                limits,
                state: Mutex::default(),
                showing: tokio::sync::Mutex::default(),
                deaths,
                reported: Mutex::new(Some(reported)),
                arrivals: Notify::new(),
            }),
        }
    }

    /// Never held over an await.
    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.hub
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The deaths from now on, once.
    pub(crate) fn deaths(&self) -> Option<mpsc::UnboundedReceiver<FaceCrash>> {
        let mut reported = self
            .hub
            .reported
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        reported.take()
    }

    /// A page is there: it gets `welcome`, then the face.
    pub(crate) fn connect(
        &self,
        skills: HostSkills,
        visible: bool,
        welcome: impl FnOnce(u64) -> ToPage,
    ) -> PageConnection {
        let mut state = self.state();
        let arrived = state.connect(skills.0, visible, welcome);
        let shown = state.show_to(arrived.page);
        drop(state);
        if let Some(frame) = shown {
            self.watch(frame);
        }
        self.hub.arrivals.notify_waiters();
        arrived
    }

    /// Waits until a page is there.
    pub(crate) async fn first_page(&self) {
        loop {
            let mut arrival = std::pin::pin!(self.hub.arrivals.notified());
            // From here on an arrival counts, also before the wait begins.
            arrival.as_mut().enable();
            if self.pages() > 0 {
                return;
            }
            arrival.await;
        }
    }

    pub(crate) fn leave(&self, page: u64) {
        self.state().leave(page);
    }

    pub(crate) fn pages(&self) -> usize {
        self.state().pages.len()
    }

    /// To all pages.
    pub(crate) fn broadcast(&self, message: &ToPage) {
        self.state().broadcast(message);
    }

    /// To one page, if it is still there.
    pub(crate) fn send(&self, page: u64, message: ToPage) {
        self.state().send(page, message);
    }

    /// The revision of the shell in a page's frame; `None` if the page has no such frame.
    pub(crate) fn frame_rev(&self, page: u64, frame: &str) -> Option<u64> {
        let state = self.state();
        let frame = state.frames.get(frame).filter(|own| own.page == page)?;
        Some(frame.shown.rev)
    }

    /// The revision of the shell in a page's frame that has mounted, and what fires when the frame goes.
    pub(crate) fn caller(&self, page: u64, frame: &str) -> Option<(u64, CancellationToken)> {
        let state = self.state();
        let frame = (state.frames.get(frame)).filter(|own| own.page == page && own.mounted)?;
        Some((frame.shown.rev, frame.gone.token().clone()))
    }

    /// The view that a frame shows, for its files.
    pub(crate) fn frame(&self, frame: &str) -> Option<Arc<FaceView>> {
        let state = self.state();
        Some(state.frames.get(frame)?.shown.clone())
    }

    /// Handles a message of a page about its frames, about itself, or in answer to a host call. The server handles calls and logs.
    pub(crate) fn on_message(&self, page: u64, message: FromPage) {
        let mut state = self.state();
        match message {
            FromPage::Visible { visible } => state.set_visible(page, visible),
            FromPage::Ready { frame } => state.ready(page, &frame),
            FromPage::Mounted { frame, rev } => state.mounted(page, &frame, rev),
            FromPage::Failed {
                frame,
                rev,
                phase,
                message,
                line,
                col,
            } => {
                let Some(own) = state.frames.get(&frame) else {
                    return;
                };
                if own.page != page || own.shown.rev != rev {
                    return;
                }
                let error = own.shown.error(&phase, &message, line, col);
                if let Some(death) = state.failed(&frame, error) {
                    let _ = self.hub.deaths.send(death);
                }
            }
            FromPage::HostReply {
                id,
                ok,
                value,
                error,
                detail,
            } => {
                let answer = match (ok, error.as_str()) {
                    (true, _) => Ok(value),
                    (false, "denied") => Err(HostError::Denied),
                    (false, "unavailable") => Err(HostError::Unavailable(detail)),
                    (false, _) => Err(HostError::Failed(detail)),
                };
                state.answer(page, id, answer);
            }
            FromPage::Hello { .. } | FromPage::Call { .. } | FromPage::Log { .. } => {}
        }
    }

    /// A frame that was not given for a trial: a face that does not mount there in time has died.
    fn watch(&self, frame: String) {
        let host = self.clone();
        tokio::spawn(async move {
            host.late(|state| Some(state.frames.get(&frame)?.mount_by(&host.hub.limits)))
                .await;
            let mut state = host.state();
            let Some(own) = state.frames.get(&frame).filter(|own| !own.mounted) else {
                return;
            };
            let error = own.shown.error("timeout", &host.no_answer(), None, None);
            let page = own.page;
            let death = state.failed(&frame, error);
            state.send(page, ToPage::Discard { frame });
            if let Some(death) = death {
                let _ = host.hub.deaths.send(death);
            }
        });
    }

    /// Waits until `deadline` has passed, which can move while frames begin to run; without one there is nothing to wait for.
    async fn late(&self, deadline: impl Fn(&SessionState) -> Option<Instant>) {
        loop {
            let next = deadline(&self.state());
            let Some(left) = next.map(|at| at.saturating_duration_since(Instant::now())) else {
                return;
            };
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(self.hub.limits.mount)).await;
        }
    }

    fn no_answer(&self) -> String {
        format!(
            "the shell did not render within {} s",
            self.hub.limits.mount.as_secs_f32()
        )
    }

    /// Shows something on every page; the face before stays where it fails, and where `cancel` fires before it has mounted.
    pub(crate) async fn mount(&self, shown: Arc<FaceView>, cancel: CancellationToken) -> Mounted {
        let _one = self.hub.showing.lock().await;
        if cancel.is_cancelled() {
            return Mounted::Cancelled;
        }
        let Some(mut received) = self.state().begin(&shown, cancel.clone()) else {
            return Mounted::NoPage;
        };
        let mut again = true;
        loop {
            let verdict = tokio::select! {
                biased;
                verdict = &mut received => Some(verdict),
                () = self.late(|state| state.mount_by(&shown, &self.hub.limits)) => None,
                () = cancel.cancelled() => {
                    self.state().call_off(&shown);
                    Some((&mut received).await)
                }
            };
            match verdict {
                Some(Ok(mounted)) => return mounted,
                // Nobody decides any longer.
                Some(Err(_)) => return Mounted::NoPage,
                None => {}
            }
            // Its frame does not even run: the face before holds the browser's process up.
            if std::mem::take(&mut again) && self.state().is_stalled(&shown) {
                self.clear_for(&shown);
                continue;
            }
            let error = shown.error("timeout", &self.no_answer(), None, None);
            let frames = self.state().give_up(&shown, error);
            for frame in frames {
                self.watch(frame);
            }
        }
    }

    /// Removes the previous face, which has hung, so that the one that is tried gets a separate process.
    fn clear_for(&self, shown: &Arc<FaceView>) {
        let mut state = self.state();
        let hung = state.face.take();
        state.clear_for(shown);
        drop(state);
        if let Some(hung) = hung {
            let error = hung.error(
                "timeout",
                "the shell does not answer any longer",
                None,
                None,
            );
            let rev = hung.rev;
            let _ = self.hub.deaths.send(FaceCrash { rev, error });
        }
    }

    /// Takes the face away; the pages show their own chat instead, until a face mounts.
    pub(crate) async fn show_safe(&self, reason: String, errors: Vec<ShellError>) {
        let _one = self.hub.showing.lock().await;
        self.state().show_safe(ToPage::Safe { reason, errors });
    }

    /// Waits until no shell is being tried; answers the revision of the face then.
    pub(crate) async fn settled(&self) -> Option<u64> {
        let _one = self.hub.showing.lock().await;
        Some(self.state().face.as_ref()?.rev)
    }

    /// Waits until no shell is being tried. If there is no face then, answers what fires when there is one again, or when the
    /// pages are to show their own chat.
    pub(crate) async fn vacancy(&self) -> Option<CancellationToken> {
        let _one = self.hub.showing.lock().await;
        let state = self.state();
        (state.face.is_none()).then(|| state.vacancy.clone())
    }

    /// The next frames have React, not the built-in part of it.
    pub(crate) fn set_react(&self, is_react: bool) {
        self.state().is_react = is_react;
    }

    /// The values that every shell gets in addition to its functions.
    pub(crate) fn set_props(&self, props: Value) {
        self.state().props = props;
    }
}

/// A request to the browser; dropped when it is answered, too late or stopped.
struct PendingRequest<'a> {
    host: &'a WebHost,
    id: u64,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        self.host.state().forget(self.id);
    }
}

#[async_trait]
impl Host for WebHost {
    fn offers(&self) -> HostSkills {
        self.state().skills()
    }

    async fn ask(&self, call: HostCall) -> Result<Value, HostError> {
        let gone = || HostError::Unavailable(format!("{} needs an open page", call.name));
        let (id, answer) = self.state().ask(&call).ok_or_else(gone)?;
        let _question = PendingRequest { host: self, id };
        match tokio::time::timeout(self.hub.limits.ask, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(HostError::Unavailable("the page was closed".to_owned())),
            Err(_) => Err(HostError::Failed("the person did not answer".to_owned())),
        }
    }

    async fn show(&self, shell: Shell, cancel: CancellationToken) -> Mounted {
        let is_react = self.state().is_react;
        if let Some(error) = shell.compiled.needs_react().filter(|_| !is_react) {
            return Mounted::Failed(error);
        }
        self.mount(Arc::new(shell.into()), cancel).await
    }
}
