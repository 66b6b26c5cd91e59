use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llm_client::Clock;
use pscale_blocks::store::{Origin, Origins};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::crashes::FaceRecovery;
use super::host::{Host, Mounted};
use super::notes::Notes;
use super::shell::{CompiledShell, Shell, ShellCompiler, ShellError, ShellInfo};
use super::shells::Shells;
use super::state::{MAX_KEPT, ShellState};
use crate::config::timestamp;
use crate::storage::FileStore;
use crate::table::ToolResult;
use crate::{ErrorKind, KernelError, ToolError};

/// The owner of the kept shells, and of the state and crashes of the face.
pub struct FaceManager {
    files: Arc<FileStore>,
    clock: Arc<dyn Clock>,
    compiler: Option<Arc<dyn ShellCompiler>>,
    host: Arc<dyn Host>,
    shells: Mutex<Shells>,
    state: Mutex<ShellState>,
    notes: Mutex<Notes>,
}

impl FaceManager {
    /// Fails if a newer program wrote one of the files. Nothing is written.
    pub(crate) fn refuse_newer(files: &FileStore) -> Result<(), KernelError> {
        ShellState::refuse_newer(files)?;
        Shells::refuse_newer(files)
    }

    /// Reads what is kept; with a line for the person for each file that cannot be read.
    pub(crate) fn open(
        files: Arc<FileStore>,
        clock: Arc<dyn Clock>,
        compiler: Option<Arc<dyn ShellCompiler>>,
        host: Arc<dyn Host>,
    ) -> Result<(Self, Vec<String>), KernelError> {
        let (state, broken_state) = ShellState::open(&files)?;
        let (shells, broken_shells) = Shells::open(&files)?;
        let faces = Self {
            files,
            clock,
            compiler,
            host,
            shells: Mutex::new(shells),
            state: Mutex::new(state),
            notes: Mutex::default(),
        };
        let notices = broken_state.into_iter().chain(broken_shells);
        Ok((faces, notices.collect()))
    }

    /// The shells that are kept, oldest first.
    pub fn shells(&self) -> Vec<ShellInfo> {
        self.kept().list().to_vec()
    }

    /// The source of a kept shell.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn source(&self, rev: u64) -> Result<Option<String>, KernelError> {
        self.read_source(rev).map_err(KernelError::file("shells"))
    }

    /// Compiles a kept shell, for a page that comes later.
    ///
    /// # Errors
    /// It is not kept, cannot be read, or does not compile.
    pub fn compile_kept(&self, rev: u64) -> Result<Shell, Vec<ShellError>> {
        let failed = |message: String| vec![ShellError::new("load", message)];
        let source = self.read_source(rev);
        let source = source.map_err(|error| failed(error.to_string()))?;
        let source = source.ok_or_else(|| failed(format!("there is no shell {rev}")))?;
        let compiled = match self.compile(&source) {
            Some(compiled) => compiled?,
            None => return Err(failed(NO_COMPILER.to_owned())),
        };
        Ok(Shell { rev, compiled })
    }

    /// Keeps a line about the face for the model, such as an uncaught error or a lost heartbeat: `face 3: TypeError: x is not a
    /// function, line 4`.
    ///
    /// It goes to the model with the next call: in a turn under way with the next result of a tool, else in front of the
    /// person's next words, and is marked as no words of the person's. The five newest lines of at most 500 characters
    /// are kept, equal ones as one with a count.
    pub fn note(&self, line: &str) {
        let rev = self.state().shell.unwrap_or_default();
        self.note_of(rev, line);
    }

    fn note_of(&self, rev: u64, line: &str) {
        let line = self.files.gates().told(line);
        let from = self.origins_of_acts(rev);
        self.notes().add(&line, from);
    }

    /// Handles the crash of a shell that was the face: counts it, notes it for the model, and returns the face from now
    /// on. The caller shows that one, by the tool `shell_use`; a failure there is one more crash.
    ///
    /// A crash of kind `timeout` is a hang; a shell that hung is never restored. A kept shell that needs React where React is
    /// not (`needs_react`) gives way to an earlier one, and nothing is counted. A caller that shows each returned face
    /// and reports each crash reaches [`FaceRecovery::Safe`] after at most two crashes of every kept shell.
    pub fn on_face_crash(&self, rev: u64, error: &ShellError) -> FaceRecovery {
        // Both are held to the end: a shell that mounts meanwhile is the face before all of this, or after it. What cannot be
        // written holds in memory: the next face must not depend on the disk.
        let (mut shells, mut state) = (self.kept(), self.state());
        if !error.is_need() {
            let _ = shells.died(&self.files, rev, error.is_hang());
        }
        let next = match state.shell {
            // A new shell took its place meanwhile.
            Some(current) if current != rev => FaceRecovery::Shell(current),
            Some(_) => {
                let next = shells.after(rev, !error.is_need());
                next.map_or(FaceRecovery::Safe, FaceRecovery::Shell)
            }
            // The host's own is shown already, and no late report takes it away.
            None => FaceRecovery::Safe,
        };
        state.shell = next.rev();
        let _ = state.save(&self.files);
        drop((shells, state));
        self.note_of(rev, &next.line(rev, error));
        next
    }

    /// Notes that a shell mounted on a page. A shell that was kept while no page was open counts as sound from now on.
    pub fn on_mounted(&self, rev: u64) {
        let mut shells = self.kept();
        let is_new = |shell: &ShellInfo| shell.rev == rev && shell.mounted.is_none();
        if shells.list().iter().any(is_new) {
            // Another start can find it out as well.
            let _ = shells.mark(&self.files, rev, Some(true));
        }
    }

    /// The state that the running shell keeps.
    pub fn face_state(&self) -> Option<Value> {
        self.state().face.clone()
    }

    /// Keeps something for the running shell, at most a MiB of JSON. Null: nothing is kept any longer.
    pub fn set_face_state(&self, state: Value) -> ToolResult {
        self.keep(state, |kept, state| kept.face = state)
    }

    /// The display of the conversation that a shell last kept.
    pub fn saved_display(&self) -> Option<Value> {
        self.state().display.clone()
    }

    /// Keeps how a shell displays the conversation, at most a MiB of JSON. Null: nothing is kept any longer. What was
    /// said stays on record whatever is kept here.
    pub fn save_display(&self, display: Value) -> ToolResult {
        self.keep(display, |kept, display| kept.display = display)
    }

    fn keep(&self, value: Value, put: impl FnOnce(&mut ShellState, Option<Value>)) -> ToolResult {
        let size = value.to_string().len();
        if size > MAX_KEPT {
            let detail = format!("the state has {size} bytes, more than {MAX_KEPT}");
            return ToolError::new(ErrorKind::TooLarge, detail).into();
        }
        let value = (!value.is_null()).then_some(value);
        match self.change_state(|kept| put(kept, value)) {
            Ok(()) => ToolResult::of(size),
            Err(error) => ToolError::from_io(error).into(),
        }
    }
}

pub(crate) const NO_COMPILER: &str = "this kernel has no compiler for shells";

/// The part for the kernel. No lock is held over an await.
impl FaceManager {
    pub(crate) fn state(&self) -> MutexGuard<'_, ShellState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, Shells> {
        self.shells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state; it is on the disk, or as before.
    pub(crate) fn change_state(&self, change: impl FnOnce(&mut ShellState)) -> io::Result<()> {
        let mut state = self.state();
        let mut new = state.clone();
        change(&mut new);
        new.save(&self.files)?;
        *state = new;
        Ok(())
    }

    /// The source of a kept shell.
    pub(crate) fn read_source(&self, rev: u64) -> io::Result<Option<String>> {
        self.kept().source(&self.files, rev)
    }

    /// Compiles a text; `None` without a compiler.
    pub(crate) fn compile(&self, text: &str) -> Option<Result<CompiledShell, Vec<ShellError>>> {
        Some(self.compiler.as_ref()?.compile(text))
    }

    /// Keeps a new shell and returns its revision; [`Self::mark`] notes whether it mounted.
    pub(crate) fn add(&self, compiled: &CompiledShell, by: &str, from: Origins) -> io::Result<u64> {
        let now = timestamp(&*self.clock);
        self.kept().add(&self.files, compiled, now, by, from)
    }

    /// The places outside that the source of a shell may come from.
    pub(crate) fn origins_of_source(&self, rev: u64) -> Origins {
        self.kept().origins(rev)
    }

    /// The places outside that the words and edits of a shell may come from: the shell itself, and those of its source.
    pub(crate) fn origins_of_acts(&self, rev: u64) -> Origins {
        let source = self.kept().origins(rev);
        Origins::union([&Origin::Face { rev }.into(), &source])
    }

    /// Notes whether a shell mounted, `None` if no page was open, and lets the oldest go.
    pub(crate) fn mark(&self, rev: u64, mounted: Option<bool>) -> io::Result<()> {
        self.kept().mark(&self.files, rev, mounted)
    }

    /// Forgets a shell that was never shown.
    pub(crate) fn forget(&self, rev: u64) -> io::Result<()> {
        self.kept().forget(&self.files, rev)
    }

    /// The shell to restore: the newest one that has not failed, the current one first; without those that were passed over.
    pub(crate) fn good(&self, passed: &[u64]) -> Option<u64> {
        let current = self.state().shell;
        self.kept().good(current, passed).map(|shell| shell.rev)
    }

    /// Shows a shell and, unless that fails, notes it as the face. One that died as soon as it had mounted did not mount.
    pub(crate) async fn show(
        &self,
        shell: Shell,
        cancel: &CancellationToken,
    ) -> io::Result<Mounted> {
        let rev = shell.rev;
        let before = self.kept().deaths(rev);
        let shown = self.host.show(shell, cancel.clone()).await;
        let mounted = match shown {
            Mounted::Yes => Some(true),
            Mounted::NoPage => None,
            Mounted::Failed(_) | Mounted::Cancelled => return Ok(shown),
        };
        // Held to the end: a crash is counted before all of this, or after it.
        let mut shells = self.kept();
        if mounted.is_some() && shells.deaths(rev) > before {
            let message = "it died as soon as it was shown";
            return Ok(Mounted::Failed(ShellError::new("render", message)));
        }
        shells.mark(&self.files, rev, mounted)?;
        self.change_state(|state| state.shell = Some(rev))?;
        Ok(shown)
    }
}
