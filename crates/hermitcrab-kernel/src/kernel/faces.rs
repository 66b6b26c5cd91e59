//! What becomes of a face once it is shown: its deaths, its lines for the model, what it keeps.

use serde_json::Value;

use crate::dispatch::io_fault;
use crate::faces::{MAX_KEPT, State};
use crate::{FaceNext, Fault, Kernel, Shell, ShellError, ShellInfo, ToolOutcome};

impl Kernel {
    /// A line about the face for the model, such as an uncaught error, a lost heartbeat: `face 3: TypeError: x is not a
    /// function, line 4`.
    ///
    /// It goes to the model with the next call: in a turn under way with the next result of a tool, else in front of the
    /// person's next words, and is marked as no words of the person's. The five newest lines of at most 500 characters
    /// are kept, equal ones as one with a count.
    pub fn note_face(&self, line: &str) {
        self.inner.note_face(line);
    }

    /// A shell that was the face died on a page: counts it, notes it for the model, and says what is the face from now
    /// on. It shows nothing: [`Kernel::use_shell`] does, and if that fails it is one more death.
    ///
    /// A death of kind `timeout` is a hang; a shell that hung is never restored by itself. Whoever shows what this says
    /// and reports each death comes to [`FaceNext::Safe`] after at most two deaths of every kept shell.
    pub fn face_died(&self, rev: u64, error: &ShellError) -> FaceNext {
        self.inner.face_died(rev, error)
    }

    /// A shell mounted on a page: one that was kept while no page was open is known to be sound from now on.
    pub fn face_mounted(&self, rev: u64) {
        let mut shells = self.inner.shells();
        let is_new = |shell: &ShellInfo| shell.rev == rev && shell.mounted.is_none();
        if shells.list().iter().any(is_new) {
            // Another start can find it out as well.
            let _ = shells.mark(&self.inner.keeper, rev, Some(true));
        }
    }

    /// Compiles a kept shell, for a page that comes later.
    ///
    /// # Errors
    /// It is not kept, cannot be read, or does not compile.
    pub fn compile_kept(&self, rev: u64) -> Result<Shell, Vec<ShellError>> {
        self.inner.compile_kept(rev)
    }

    /// What the running shell keeps for itself.
    pub fn face_state(&self) -> Option<Value> {
        self.inner.state().face.clone()
    }

    /// Keeps something for the running shell, at most a MiB of JSON. Null: nothing is kept any longer.
    pub fn set_face_state(&self, state: Value) -> ToolOutcome {
        self.keep(state, |kept, state| kept.face = state)
    }

    /// What a shell last kept of how it displays the conversation.
    pub fn saved_display(&self) -> Option<Value> {
        self.inner.state().display.clone()
    }

    /// Keeps how a shell displays the conversation, at most a MiB of JSON. Null: nothing is kept any longer. What was
    /// said stays on record whatever is kept here.
    pub fn save_display(&self, display: Value) -> ToolOutcome {
        self.keep(display, |kept, display| kept.display = display)
    }

    fn keep(&self, value: Value, put: impl FnOnce(&mut State, Option<Value>)) -> ToolOutcome {
        let size = value.to_string().len();
        if size > MAX_KEPT {
            let detail = format!("the state has {size} bytes, more than {MAX_KEPT}");
            return Fault::new("too_large", detail).into();
        }
        let value = (!value.is_null()).then_some(value);
        match self.inner.change_state(|kept| put(kept, value)) {
            Ok(()) => ToolOutcome::of(size),
            Err(error) => io_fault(error).into(),
        }
    }
}
