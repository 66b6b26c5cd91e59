//! The open pages, their frames, and the pending answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hermitcrab_kernel::faces::{HostCall, HostError, HostSkills, Mounted, ShellError};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{FaceCrash, FaceView, HostLimits, PageConnection};
use crate::message::ToPage;
use crate::token::Token;

/// The number of unsent messages of a page: a slower page is closed, and connects again.
const BEHIND: usize = 1_024;

/// The tools for a folder that was opened in the browser.
const FOLDER: [&str; 5] = ["fs_list", "fs_read", "fs_write", "fs_mkdir", "fs_delete"];

#[derive(Debug, Default)]
pub(super) struct SessionState {
    pub pages: BTreeMap<u64, Page>,
    /// By their ids.
    pub frames: BTreeMap<String, Frame>,
    /// The face that all pages show.
    pub face: Option<Arc<FaceView>>,
    /// Fires when a face, or the pages' own chat, takes the place of a face that has gone.
    pub vacancy: CancellationToken,
    /// The message by which pages show their own chat in its place.
    safe: Option<ToPage>,
    /// The shell that is being mounted for the first time.
    pub trial: Option<MountAttempt>,
    /// The values that every shell gets in addition to its functions.
    pub props: Value,
    /// Frames have React, not the built-in part of it.
    pub is_react: bool,
    asked: BTreeMap<u64, PendingAnswer>,
    /// Pages, looks and questions are numbered by one count.
    last: u64,
}

#[derive(Debug)]
pub(super) struct Page {
    out: mpsc::Sender<ToPage>,
    /// Ends its socket, also one that is stuck in a write.
    _gone: DropGuard,
    skills: BTreeSet<String>,
    /// The time at which the page came into view; `None` if it is hidden.
    seen: Option<u64>,
}

impl Page {
    /// A page that can open a folder can also use it.
    fn can(&self, tool: &str) -> bool {
        self.skills.contains(tool)
            || (FOLDER.contains(&tool) && self.skills.contains("fs_pick_directory"))
    }
}

#[derive(Debug)]
pub(super) struct Frame {
    pub page: u64,
    pub shown: Arc<FaceView>,
    /// The time at which the page was asked for the frame.
    given: Instant,
    /// The time at which the frame ran and waited for its shell.
    ready: Option<Instant>,
    pub mounted: bool,
    /// Fires when the frame goes: what its shell has asked for is not wanted any longer.
    pub gone: DropGuard,
}

impl Frame {
    /// The deadline of the first render.
    pub fn mount_by(&self, limits: &HostLimits) -> Instant {
        self.ready
            .map_or(self.given + limits.load, |at| at + limits.mount)
    }
}

#[derive(Debug)]
pub(super) struct MountAttempt {
    shown: Arc<FaceView>,
    /// Fires when it is not wanted any longer.
    cancel: CancellationToken,
    /// The first page that answers decides.
    verdict: oneshot::Sender<Mounted>,
}

/// The answer of the browser.
pub(super) type HostAnswer = Result<Value, HostError>;

/// A request that waits for the browser.
#[derive(Debug)]
struct PendingAnswer {
    page: u64,
    answer: oneshot::Sender<HostAnswer>,
}

impl SessionState {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub fn connect(
        &mut self,
        skills: BTreeSet<String>,
        visible: bool,
        welcome: impl FnOnce(u64) -> ToPage,
    ) -> PageConnection {
        let page = self.next();
        let (out, messages) = mpsc::channel(BEHIND);
        let _ = out.try_send(welcome(page));
        let gone = CancellationToken::new();
        let own = Page {
            out,
            _gone: gone.clone().drop_guard(),
            skills,
            seen: visible.then_some(page),
        };
        self.pages.insert(page, own);
        PageConnection {
            page,
            out: messages,
            gone,
        }
    }

    /// Shows a page that arrived the face or its own chat, and what is being tried. Answers the frame of the face.
    pub fn show_to(&mut self, page: u64) -> Option<String> {
        if let Some(safe) = self.safe.clone() {
            self.send(page, safe);
        }
        let face = self.face.clone();
        let frame = face.and_then(|face| self.show(page, &face));
        if let Some(shown) = self.trial.as_ref().map(|trial| trial.shown.clone()) {
            self.show(page, &shown);
        }
        frame
    }

    /// Takes the page away with all that hangs on it.
    pub fn leave(&mut self, page: u64) {
        self.pages.remove(&page);
        self.frames.retain(|_, frame| frame.page != page);
        self.asked.retain(|_, asked| asked.page != page);
        if self.pages.is_empty() {
            self.decide(Mounted::NoPage);
        }
    }

    pub fn set_visible(&mut self, page: u64, visible: bool) {
        let now = self.next();
        if let Some(page) = self.pages.get_mut(&page) {
            page.seen = visible.then_some(now);
        }
    }

    pub fn send(&mut self, page: u64, message: ToPage) {
        let Some(own) = self.pages.get(&page) else {
            return;
        };
        if own.out.try_send(message).is_err() {
            self.leave(page);
        }
    }

    pub fn broadcast(&mut self, message: &ToPage) {
        let pages: Vec<u64> = self.pages.keys().copied().collect();
        for page in pages {
            self.send(page, message.clone());
        }
    }

    /// Gives a page a frame for a face; answers the frame's id.
    pub fn show(&mut self, page: u64, shown: &Arc<FaceView>) -> Option<String> {
        let frame = Token::new()?.as_str().to_owned();
        let own = Frame {
            page,
            shown: shown.clone(),
            given: Instant::now(),
            ready: None,
            mounted: false,
            gone: CancellationToken::new().drop_guard(),
        };
        self.frames.insert(frame.clone(), own);
        let message = ToPage::Show {
            frame: frame.clone(),
            rev: shown.rev,
            props: self.props.clone(),
        };
        self.send(page, message);
        Some(frame)
    }

    /// Begins to try a face on all pages; without a page it is the face.
    pub fn begin(
        &mut self,
        shown: &Arc<FaceView>,
        cancel: CancellationToken,
    ) -> Option<oneshot::Receiver<Mounted>> {
        if self.pages.is_empty() {
            self.become_face(shown.clone());
            return None;
        }
        let (verdict, received) = oneshot::channel();
        self.trial = Some(MountAttempt {
            shown: shown.clone(),
            cancel,
            verdict,
        });
        self.show_all(shown);
        Some(received)
    }

    /// Ends the trial, if there is one. This also decides what all pages show, before another request can read it.
    fn decide(&mut self, mounted: Mounted) {
        let Some(MountAttempt {
            shown,
            cancel,
            verdict,
        }) = self.trial.take()
        else {
            return;
        };
        let is_wanted = !cancel.is_cancelled();
        let mounted = if is_wanted {
            mounted
        } else {
            Mounted::Cancelled
        };
        match mounted {
            Mounted::Failed(_) | Mounted::Cancelled => self.discard(&shown),
            _ => self.become_face(shown),
        }
        let _ = verdict.send(mounted);
    }

    fn become_face(&mut self, shown: Arc<FaceView>) {
        self.face = Some(shown);
        self.safe = None;
        std::mem::take(&mut self.vacancy).cancel();
    }

    /// Takes the face away on all pages, for the page's own chat.
    pub fn show_safe(&mut self, safe: ToPage) {
        self.face = None;
        self.frames.clear();
        self.broadcast(&safe);
        self.safe = Some(safe);
        std::mem::take(&mut self.vacancy).cancel();
    }

    /// Ends the trial of a face that is not wanted any longer.
    pub fn call_off(&mut self, shown: &Arc<FaceView>) {
        if self.tries(shown) {
            self.decide(Mounted::Cancelled);
        }
    }

    fn tries(&self, shown: &Arc<FaceView>) -> bool {
        (self.trial.as_ref()).is_some_and(|trial| Arc::ptr_eq(&trial.shown, shown))
    }

    /// Gives every page a frame for a face.
    fn show_all(&mut self, shown: &Arc<FaceView>) -> Vec<String> {
        let pages: Vec<u64> = self.pages.keys().copied().collect();
        let shown = pages.into_iter().filter_map(|page| self.show(page, shown));
        shown.collect()
    }

    /// Whether a face is tried of which no frame runs.
    pub fn is_stalled(&self, shown: &Arc<FaceView>) -> bool {
        let mut tried = (self.frames.values()).filter(|frame| Arc::ptr_eq(&frame.shown, shown));
        self.tries(shown) && tried.all(|frame| frame.ready.is_none())
    }

    /// The deadline of a face that is tried: running frames decide; without one, those that do not run yet.
    pub fn mount_by(&self, shown: &Arc<FaceView>, limits: &HostLimits) -> Option<Instant> {
        let of_it = |frame: &&Frame| Arc::ptr_eq(&frame.shown, shown);
        let frames = || self.frames.values().filter(of_it);
        let running = (frames().filter(|frame| frame.ready.is_some()))
            .map(|frame| frame.mount_by(limits))
            .max();
        running.or_else(|| frames().map(|frame| frame.mount_by(limits)).max())
    }

    /// Takes all frames away.
    fn clear(&mut self) {
        self.frames.clear();
        self.broadcast(&ToPage::Clear);
    }

    /// Takes all frames away, and tries a face once more.
    pub fn clear_for(&mut self, shown: &Arc<FaceView>) {
        self.clear();
        self.show_all(shown);
    }

    /// Ends the attempt of a face that hung together with the previous one, which begins again. Returns its frames.
    pub fn give_up(&mut self, hung: &Arc<FaceView>, error: ShellError) -> Vec<String> {
        if !self.tries(hung) {
            return Vec::new();
        }
        self.decide(Mounted::Failed(error));
        self.clear();
        let face = self.face.clone();
        face.map_or_else(Vec::new, |face| self.show_all(&face))
    }

    pub fn ready(&mut self, page: u64, id: &str) {
        if let Some(frame) = self.frames.get_mut(id)
            && frame.page == page
        {
            frame.ready.get_or_insert_with(Instant::now);
        }
    }

    /// A frame's first render is done: what the page showed before goes.
    pub fn mounted(&mut self, page: u64, id: &str, rev: u64) {
        let Some(frame) = self.frames.get_mut(id) else {
            return;
        };
        if frame.page != page || frame.shown.rev != rev {
            return;
        }
        frame.mounted = true;
        let shown = frame.shown.clone();
        // While the frame is still there that may have asked for it.
        if self.tries(&shown) {
            self.decide(Mounted::Yes);
        }
        if self.frames.contains_key(id) {
            self.frames
                .retain(|other, frame| frame.page != page || !frame.mounted || other == id);
        }
    }

    /// Notes that a frame failed. An undecided attempt fails with it; a face that all pages show has crashed.
    pub fn failed(&mut self, id: &str, error: ShellError) -> Option<FaceCrash> {
        let Frame { shown, .. } = self.frames.remove(id)?;
        if self.tries(&shown) {
            self.decide(Mounted::Failed(error));
            return None;
        }
        // The first page that tells it counts: now the others' reports are of no face any longer.
        self.face.take_if(|face| Arc::ptr_eq(face, &shown))?;
        let rev = shown.rev;
        Some(FaceCrash { rev, error })
    }

    /// Takes the frames away that were made for a trial.
    fn discard(&mut self, shown: &Arc<FaceView>) {
        let of_trial = |frame: &Frame| Arc::ptr_eq(&frame.shown, shown);
        let gone: Vec<(String, u64)> = (self.frames.iter())
            .filter(|(_, frame)| of_trial(frame))
            .map(|(id, frame)| (id.clone(), frame.page))
            .collect();
        for (frame, page) in gone {
            self.frames.remove(&frame);
            self.send(page, ToPage::Discard { frame });
        }
    }

    pub fn skills(&self) -> HostSkills {
        let skills = self.pages.values().flat_map(|page| &page.skills);
        let mut skills: BTreeSet<String> = skills.cloned().collect();
        if skills.contains("fs_pick_directory") {
            skills.extend(FOLDER.map(str::to_owned));
        }
        HostSkills(skills)
    }

    /// Asks the page that came into view last, of those that can do it.
    pub fn ask(&mut self, call: &HostCall) -> Option<(u64, oneshot::Receiver<HostAnswer>)> {
        let can = (self.pages.iter()).filter(|(_, page)| page.can(&call.name));
        let page = *can.max_by_key(|(_, page)| page.seen)?.0;
        let id = self.next();
        let (answer, answered) = oneshot::channel();
        self.asked.insert(id, PendingAnswer { page, answer });
        let message = ToPage::HostCall {
            id,
            name: call.name.clone(),
            args: call.args.clone(),
        };
        self.send(page, message);
        Some((id, answered))
    }

    /// An answer counts from the page that was asked only.
    pub fn answer(&mut self, page: u64, id: u64, answer: HostAnswer) {
        if self.asked.get(&id).is_some_and(|asked| asked.page == page)
            && let Some(asked) = self.asked.remove(&id)
        {
            let _ = asked.answer.send(answer);
        }
    }

    /// Drops a pending answer, and notifies the page that still asks the person for it.
    pub fn forget(&mut self, id: u64) {
        if let Some(asked) = self.asked.remove(&id) {
            let message = ToPage::event("unanswered", json!({ "id": id }));
            self.send(asked.page, message);
        }
    }
}
