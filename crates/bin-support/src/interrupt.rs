use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::{Error, Exit};

/// Whether the user asked the program to stop; cheap to clone and to ask.
///
/// A command that never asks should not call [`Interrupt::on_ctrl_c`]: Ctrl-C then ends the process at once.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// How often [`Interrupt::then`] looks.
const GLANCE: Duration = Duration::from_millis(50);

impl Interrupt {
    /// From now on the first Ctrl-C raises the flag, and one more ends the process with 130.
    ///
    /// # Errors
    /// [`Error::Interrupt`] where the system refuses the handler.
    pub fn on_ctrl_c() -> Result<Self, Error> {
        let interrupt = Self::default();
        let code = i32::from(Exit::Interrupted.code());
        // In this order: the flag is looked at before it is raised, so only the second signal ends the process.
        flag::register_conditional_shutdown(SIGINT, code, Arc::clone(&interrupt.0))
            .and_then(|_| flag::register(SIGINT, Arc::clone(&interrupt.0)))
            .map_err(|source| Error::Interrupt { source })?;
        Ok(interrupt)
    }

    /// Whether the program should finish what is in flight and end with [`Exit::Interrupted`].
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Calls `act` once the flag is raised, from a thread that ends with the process: the work beside it may keep every
    /// other one busy.
    #[expect(
        clippy::disallowed_methods,
        reason = "a signal handler may only raise a flag, so somebody has to look at it now and then"
    )]
    pub fn then(self, act: impl FnOnce() + Send + 'static) {
        thread::spawn(move || {
            while !self.is_raised() {
                thread::sleep(GLANCE);
            }
            act();
        });
    }

    /// The flag itself, for a library that takes an `&AtomicBool`.
    pub fn as_flag(&self) -> &AtomicBool {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ctrl_c_raises_the_flag_and_leaves_the_process_alive() {
        let interrupt = Interrupt::on_ctrl_c().unwrap();
        let seen_by_a_worker = interrupt.clone();
        assert!(!seen_by_a_worker.is_raised());
        signal_hook::low_level::raise(SIGINT).unwrap();
        assert!(seen_by_a_worker.is_raised());
    }
}
