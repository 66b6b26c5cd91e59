use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use llm_client::{Clock, Timer};
use tokio::sync::watch;

/// The number of polls without progress after which only time can help.
const QUIET_POLLS: u32 = 8;

/// A clock that moves only when a test moves it. Clones share the time.
///
/// It starts at 2026-11-22 00:00:00 UTC with [`Clock::elapsed`] zero. A sleep that was dropped is forgotten.
#[derive(Clone)]
pub struct FakeClock {
    shared: Arc<ClockShared>,
}

struct ClockShared {
    state: Mutex<ClockState>,
    /// Counts the sleeps that began.
    begun: watch::Sender<u64>,
}

struct ClockState {
    start: SystemTime,
    elapsed: Duration,
    skip_up_to: Duration,
    next_id: u64,
    sleepers: BTreeMap<u64, Sleeper>,
    log: Vec<Duration>,
    skipped: Vec<Duration>,
    /// The waker of [`FakeClock::run`], which may wait for a new sleep.
    driver: Option<Waker>,
}

struct Sleeper {
    asked: Duration,
    deadline: Duration,
    waker: Waker,
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeClock {
    /// A clock that does not move.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(ClockShared {
                state: Mutex::new(ClockState {
                    start: "2026-11-22T00:00:00Z"
                        .parse::<jiff::Timestamp>()
                        .unwrap()
                        .into(),
                    elapsed: Duration::ZERO,
                    skip_up_to: Duration::ZERO,
                    next_id: 0,
                    sleepers: BTreeMap::new(),
                    log: Vec::new(),
                    skipped: Vec::new(),
                    driver: None,
                }),
                begun: watch::Sender::new(0),
            }),
        }
    }

    /// A clock on which a sleep of at most `longest` ends at once and moves the time forward by its length.
    ///
    /// So the waits between attempts take no time and are logged, and timeouts above `longest` stay pending.
    pub fn skip_up_to(longest: Duration) -> Self {
        let clock = Self::new();
        clock.state().skip_up_to = longest;
        clock
    }

    /// Moves the time forward and ends the sleeps that are over.
    pub fn advance(&self, by: Duration) {
        let due = {
            let mut state = self.state();
            state.elapsed += by;
            state.take_due()
        };
        due.into_iter().for_each(Waker::wake);
    }

    /// Sets the time of day, without effect on [`Clock::elapsed`] and the sleeps.
    pub fn set_now(&self, now: SystemTime) {
        let mut state = self.state();
        state.start = now.checked_sub(state.elapsed).unwrap();
    }

    /// The durations of the pending sleeps, in the order they began.
    pub fn sleepers(&self) -> Vec<Duration> {
        let state = self.state();
        state.sleepers.values().map(|one| one.asked).collect()
    }

    /// Every sleep that ever began.
    pub fn log(&self) -> Vec<Duration> {
        self.state().log.clone()
    }

    /// The sleeps that [`Self::skip_up_to`] ended at once.
    pub fn skipped(&self) -> Vec<Duration> {
        self.state().skipped.clone()
    }

    /// Waits until a sleep of exactly `asked` is pending.
    pub async fn wait_for_sleep(&self, asked: Duration) {
        self.wait_for_sleepers(|pending| pending.contains(&asked))
            .await;
    }

    /// Waits until the pending sleeps are as `wanted`.
    pub async fn wait_for_sleepers(&self, mut wanted: impl FnMut(&[Duration]) -> bool) {
        let mut begun = self.shared.begun.subscribe();
        while !wanted(&self.sleepers()) {
            // The sender lives in `self`.
            begun.changed().await.unwrap();
        }
    }

    /// Runs `future`, and whenever it can only wait for time, moves the time to the end of the next sleep.
    ///
    /// Exact if all that the future waits for is inside it or in tasks of the same runtime, as with
    /// [`crate::MemoryTransport`]. With real sockets use [`Self::run_unless`].
    pub async fn run<F: Future>(&self, future: F) -> F::Output {
        self.run_unless(future, || false).await
    }

    /// As [`Self::run`], but the time does not move while `busy`, because something outside is about to answer.
    pub async fn run_unless<F: Future>(&self, future: F, busy: impl Fn() -> bool) -> F::Output {
        let mut future = pin!(future);
        let mut quiet = 0;
        poll_fn(|context| {
            let noticing = Arc::new(Noticing {
                outer: context.waker().clone(),
                woken: AtomicBool::new(false),
            });
            self.state().driver = Some(context.waker().clone());
            let waker = noticing.clone().into();
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                self.state().driver = None;
                return Poll::Ready(output);
            }
            if noticing.woken.load(Ordering::SeqCst) {
                quiet = 0;
            } else if !busy() {
                quiet += 1;
                if quiet < QUIET_POLLS {
                    // Other tasks of the runtime get their turn first.
                    context.waker().wake_by_ref();
                } else {
                    quiet = 0;
                    self.advance_to_next();
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Moves the time to the end of the next sleep, if there is one.
    fn advance_to_next(&self) {
        let next = {
            let state = self.state();
            let ends = state.sleepers.values().map(|one| one.deadline);
            ends.min().map(|end| end.saturating_sub(state.elapsed))
        };
        if let Some(by) = next {
            self.advance(by);
        }
    }

    fn state(&self) -> MutexGuard<'_, ClockState> {
        self.shared.state.lock().unwrap()
    }
}

impl Clock for FakeClock {
    fn now(&self) -> SystemTime {
        let state = self.state();
        state.start.checked_add(state.elapsed).unwrap()
    }

    fn elapsed(&self) -> Duration {
        self.state().elapsed
    }
}

impl Timer for FakeClock {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Sleep {
            clock: self.clone(),
            asked: duration,
            deadline: self.state().elapsed.saturating_add(duration),
            id: None,
        }
        .boxed()
    }
}

impl ClockState {
    /// Removes the sleepers whose time is over.
    fn take_due(&mut self) -> Vec<Waker> {
        let elapsed = self.elapsed;
        self.sleepers
            .extract_if(.., |_, one| one.deadline <= elapsed)
            .map(|(_, one)| one.waker)
            .collect()
    }
}

/// A sleep that begins at its first poll, since the code under test may create sleeps that it never awaits.
struct Sleep {
    clock: FakeClock,
    asked: Duration,
    deadline: Duration,
    id: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let clock = self.clock.clone();
        let mut state = clock.state();
        let first = self.id.is_none();
        if first {
            state.next_id += 1;
            self.id = Some(state.next_id);
            state.log.push(self.asked);
        }
        if state.elapsed >= self.deadline {
            return Poll::Ready(());
        }
        if first && self.asked <= state.skip_up_to {
            state.skipped.push(self.asked);
            let by = self.deadline.saturating_sub(state.elapsed);
            drop(state);
            clock.advance(by);
            return Poll::Ready(());
        }
        let sleeper = Sleeper {
            asked: self.asked,
            deadline: self.deadline,
            waker: context.waker().clone(),
        };
        state.sleepers.extend(self.id.map(|id| (id, sleeper)));
        let driver = first.then(|| state.driver.clone()).flatten();
        drop(state);
        if first {
            clock.shared.begun.send_modify(|count| *count += 1);
        }
        if let Some(driver) = driver {
            driver.wake();
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.clock.state().sleepers.remove(&id);
        }
    }
}

/// A waker that notes a request for another poll.
struct Noticing {
    outer: Waker,
    woken: AtomicBool,
}

impl Wake for Noticing {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        self.outer.wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn time(text: &str) -> SystemTime {
        text.parse::<jiff::Timestamp>().unwrap().into()
    }

    #[tokio::test]
    async fn a_sleep_ends_when_the_time_is_moved_past_it() {
        let clock = FakeClock::new();
        let sleep = clock.sleep(2 * SECOND);
        let mover = async {
            clock.wait_for_sleep(2 * SECOND).await;
            clock.advance(SECOND);
            assert_eq!(clock.sleepers(), [2 * SECOND]);
            clock.advance(SECOND);
        };
        tokio::join!(sleep, mover);
        assert!(clock.sleepers().is_empty());
        assert_eq!(clock.elapsed(), 2 * SECOND);
        assert_eq!(clock.now(), time("2026-11-22T00:00:02Z"));
        clock.set_now(time("2030-01-01T00:00:00Z"));
        clock.advance(SECOND);
        assert_eq!(clock.now(), time("2030-01-01T00:00:01Z"));
    }

    #[tokio::test]
    async fn a_dropped_sleep_is_forgotten() {
        let clock = FakeClock::new();
        let mut sleep = clock.sleep(SECOND);
        assert!(futures_util::poll!(&mut sleep).is_pending());
        assert_eq!(clock.sleepers(), [SECOND]);
        drop(sleep);
        assert!(clock.sleepers().is_empty());
        assert_eq!(clock.log(), [SECOND]);
    }

    #[tokio::test]
    async fn short_sleeps_are_skipped_and_logged() {
        let clock = FakeClock::skip_up_to(30 * SECOND);
        let mut long = clock.sleep(31 * SECOND);
        assert!(futures_util::poll!(&mut long).is_pending());
        clock.sleep(30 * SECOND).await;
        assert_eq!(clock.elapsed(), 30 * SECOND);
        assert_eq!(clock.skipped(), [30 * SECOND]);
        assert!(futures_util::poll!(&mut long).is_pending());
        clock.sleep(SECOND).await;
        long.await;
    }

    #[tokio::test]
    async fn running_moves_from_one_end_of_a_sleep_to_the_next() {
        let clock = FakeClock::new();
        let order = Mutex::new(Vec::new());
        let one = |seconds: u32| {
            let (clock, order) = (clock.clone(), &order);
            async move {
                clock.sleep(SECOND * seconds).await;
                // Another task has to run in between.
                tokio::spawn(tokio::task::yield_now()).await.unwrap();
                clock.sleep(SECOND / 2).await;
                order.lock().unwrap().push((seconds, clock.elapsed()));
            }
        };
        clock.run(join_all([3, 1, 2].map(one))).await;
        let half = SECOND / 2;
        let expected = [1, 2, 3].map(|n| (n, SECOND * n + half));
        assert_eq!(*order.lock().unwrap(), expected);
    }

    #[tokio::test]
    async fn running_waits_for_what_is_busy_outside() {
        let clock = FakeClock::new();
        let (answer, question) = tokio::sync::oneshot::channel::<()>();
        let busy = AtomicBool::new(true);
        let outside = async {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            assert_eq!(clock.elapsed(), Duration::ZERO);
            busy.store(false, Ordering::SeqCst);
            answer.send(()).unwrap();
        };
        let asked = async {
            question.await.unwrap();
            clock.sleep(SECOND).await;
        };
        let inside = clock.run_unless(asked, || busy.load(Ordering::SeqCst));
        tokio::join!(inside, outside);
        assert_eq!(clock.elapsed(), SECOND);
    }
}
