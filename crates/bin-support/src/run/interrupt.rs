use std::fmt;
use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;
use tokio::sync::Notify;

use crate::{Error, Exit};

/// A signal this soon after the first one is the same request: a supervisor may send two at once.
const SAME_REQUEST: Duration = Duration::from_millis(200);

/// A request to stop, by Ctrl-C, SIGTERM or SIGHUP; cheap to clone and to query.
///
/// A command that never queries it should not call [`Interrupt::on_signals`]: these signals then end the process at once.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Shared>);

#[derive(Default)]
struct Shared {
    raised: AtomicBool,
    /// Whether SIGTERM or SIGHUP came, after which no new work begins.
    ends: AtomicBool,
    /// Whether the second signal raises [`Shared::raised_again`] and only a third ends the process.
    spares_second: AtomicBool,
    raised_again: AtomicBool,
    /// The signal that raised the flag.
    signal: AtomicI32,
    /// The moment of that signal.
    raised_at: Mutex<Option<Instant>>,
    /// The time after SIGTERM or SIGHUP at which the process ends in any case.
    grace: OnceLock<Duration>,
    actions: Mutex<Vec<Action>>,
    notify: Notify,
}

type Action = Box<dyn FnOnce() + Send>;

impl Interrupt {
    /// Starts a thread that waits for these signals: the first one raises the flag, and one more ends the process with 130,
    /// unless it comes within 200 ms.
    ///
    /// # Errors
    /// [`Error::Interrupt`] if the system refuses the handler.
    pub fn on_signals() -> Result<Self, Error> {
        let failed = |source| Error::Interrupt { source };
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
        let interrupt = Self::default();
        let raised = interrupt.clone();
        let thread = thread::Builder::new().name("signals".to_owned());
        let wait = move || {
            for signal in signals.forever() {
                raised.receive(signal);
            }
        };
        thread.spawn(wait).map_err(failed)?;
        Ok(interrupt)
    }

    /// As [`Self::on_signals`], for work that is given back when one more signal comes: that one raises a second flag, and a third
    /// ends the process.
    ///
    /// # Errors
    /// Those of [`Self::on_signals`].
    pub fn on_two_signals() -> Result<Self, Error> {
        let interrupt = Self::on_signals()?;
        interrupt.0.spares_second.store(true, Ordering::SeqCst);
        Ok(interrupt)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a person's second signal is distinguished from a supervisor's by the time between them"
    )]
    fn receive(&self, signal: i32) {
        if signal != SIGINT && !self.0.ends.swap(true, Ordering::SeqCst) {
            self.begin_grace();
        }
        let mut raised_at = lock(&self.0.raised_at);
        if self.0.raised.swap(true, Ordering::SeqCst) {
            if raised_at.is_some_and(|at| at.elapsed() < SAME_REQUEST) {
                return;
            }
            if !self.0.spares_second.swap(false, Ordering::SeqCst) {
                end();
            }
            *raised_at = Some(Instant::now());
            self.0.raised_again.store(true, Ordering::SeqCst);
            self.0.notify.notify_waiters();
            return;
        }
        *raised_at = Some(Instant::now());
        drop(raised_at);
        self.0.signal.store(signal, Ordering::SeqCst);
        self.0.notify.notify_waiters();
        // Outside of the lock: an action may ask for another one.
        let actions = mem::take(&mut *self.actions());
        for act in actions {
            act();
        }
    }

    /// Ends the process with 130 at `grace` after SIGTERM or SIGHUP: an output that is not read could hold it
    /// for ever.
    pub fn end_after(&self, grace: Duration) {
        // Only the first call counts.
        let _ = self.0.grace.set(grace);
    }

    fn begin_grace(&self) {
        if let Some(grace) = self.0.grace.get().copied() {
            thread::spawn(move || {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "the process is to end by the clock, whatever else hangs"
                )]
                thread::sleep(grace);
                end();
            });
        }
    }

    /// Whether the program should finish the work under way and end with [`Exit::Interrupted`].
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }

    /// The name of the signal that raised the flag, for a record of the run.
    pub fn signal(&self) -> Option<&'static str> {
        match self.0.signal.load(Ordering::SeqCst) {
            SIGINT => Some("SIGINT"),
            SIGTERM => Some("SIGTERM"),
            SIGHUP => Some("SIGHUP"),
            _ => None,
        }
    }

    /// Returns once the flag is raised.
    pub async fn raised(&self) {
        self.until(&self.0.raised).await;
    }

    /// Returns once a second signal came, after [`Self::on_two_signals`].
    pub async fn raised_again(&self) {
        self.until(&self.0.raised_again).await;
    }

    async fn until(&self, flag: &AtomicBool) {
        loop {
            let mut notified = pin!(self.0.notify.notified());
            notified.as_mut().enable();
            if flag.load(Ordering::SeqCst) {
                return;
            }
            notified.await;
        }
    }

    /// Calls `act` once the flag is raised, on the thread that waits for signals, since all other threads may be busy.
    pub fn then(&self, act: impl FnOnce() + Send + 'static) {
        let mut actions = self.actions();
        if self.is_raised() {
            drop(actions);
            act();
        } else {
            actions.push(Box::new(act));
        }
    }

    /// Ends the process with 130 once the flag is raised, also while it waits for a line of stdin, which nothing else ends.
    pub fn end_at_signal(&self) {
        self.then(|| {
            end();
        });
    }

    /// Clears a Ctrl-C that stopped a part of the work and not the program. SIGTERM and SIGHUP stay raised.
    pub fn lower(&self) {
        if !self.0.ends.load(Ordering::SeqCst) {
            self.0.raised.store(false, Ordering::SeqCst);
        }
    }

    fn actions(&self) -> MutexGuard<'_, Vec<Action>> {
        lock(&self.0.actions)
    }
}

/// The lock; whatever panicked with it has left the value as it was.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn end() -> ! {
    low_level::exit(Exit::Interrupted.code().into());
}

/// Turns SIGXFSZ (file over `ulimit -f`) into an error of the write; the signal would end the process without a message.
pub(crate) fn survive_file_limits() {
    // Where it is refused, the system's default stays.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(rustix::process::Signal::XFSZ.as_raw(), Arc::default());
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupt")
            .field("raised", &self.is_raised())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn the_first_signal_raises_the_flag_and_leaves_the_process_alive() {
        let interrupt = Interrupt::on_signals().unwrap();
        let (seen, worker) = (interrupt.clone(), interrupt.clone());
        assert!(!seen.is_raised());
        let (done, told) = channel();
        worker.then(move || done.send(()).unwrap());
        // Another one would end the process of all tests here.
        low_level::raise(SIGINT).unwrap();
        told.recv().unwrap();
        assert!(seen.is_raised());
        crate::block_on(seen.raised()).unwrap();
        let (done, told) = channel();
        seen.then(move || done.send(()).unwrap());
        told.recv().unwrap();
        assert!(interrupt.actions().is_empty());
    }

    #[test]
    fn two_signals_at_once_are_one_request() {
        let interrupt = Interrupt::default();
        // The second one would end the process of all tests here.
        interrupt.receive(SIGTERM);
        interrupt.receive(SIGTERM);
        assert_eq!(interrupt.signal(), Some("SIGTERM"));
    }

    #[test]
    fn ctrl_c_can_stop_a_part_and_the_others_stop_everything() {
        for (signal, lasts) in [(SIGINT, false), (SIGTERM, true), (SIGHUP, true)] {
            let interrupt = Interrupt::default();
            interrupt.receive(signal);
            assert!(interrupt.is_raised());
            interrupt.lower();
            assert_eq!(interrupt.is_raised(), lasts, "{signal}");
        }
    }

    #[test]
    fn a_wait_that_began_before_the_signal_ends_with_it() {
        let interrupt = Interrupt::default();
        let later = interrupt.clone();
        crate::block_on(async {
            let mut raised = pin!(interrupt.raised());
            let early = std::future::poll_fn(|cx| std::task::Poll::Ready(raised.as_mut().poll(cx)));
            assert!(early.await.is_pending());
            later.receive(SIGTERM);
            raised.await;
        })
        .unwrap();
    }
}
