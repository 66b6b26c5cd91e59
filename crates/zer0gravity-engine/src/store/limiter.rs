use std::sync::Mutex;

use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use super::call_store::lock;

/// A limit on the calls in flight. It also repeats a call that a cap refused if calls in flight may release part of the cap.
pub(super) struct Limiter {
    permits: Semaphore,
    attempts: Mutex<Attempts>,
    /// The notification of refused calls that another call has ended.
    attempt_ended: Notify,
}

/// The numbers of attempts in flight and of ended ones.
#[derive(Default, Clone, Copy)]
struct Attempts {
    under_way: usize,
    ended: usize,
}

/// An attempt in flight, which ends when it is dropped.
struct Attempt<'a> {
    limiter: &'a Limiter,
    /// The number of attempts that had ended when this one began.
    ended_before: usize,
    withdrawn: bool,
}

impl Limiter {
    pub fn new(concurrency: usize) -> Self {
        Self {
            permits: Semaphore::new(concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            attempts: Mutex::default(),
            attempt_ended: Notify::new(),
        }
    }

    /// Waits until one more call may be in flight. The result is never `None`, because the semaphore is never closed.
    pub async fn permit(&self) -> Option<SemaphorePermit<'_>> {
        self.permits.acquire().await.ok()
    }

    /// Makes a call, and makes it again if a cap refused it and another call has ended meanwhile.
    ///
    /// A cap reserves the highest cost of calls in flight. The end of a call may release part of it, so the cap is reached only if
    /// no call in flight can do so.
    pub async fn attempt<T, F: Future<Output = T>>(
        &self,
        call: impl Fn() -> F,
        is_refused: impl Fn(&T) -> bool,
    ) -> T {
        loop {
            let next_end = self.attempt_ended.notified();
            let mut attempt = self.begin();
            let answer = call().await;
            if !is_refused(&answer) || !attempt.withdraw() {
                return answer;
            }
            drop(attempt);
            next_end.await;
        }
    }

    fn begin(&self) -> Attempt<'_> {
        let mut attempts = lock(&self.attempts);
        attempts.under_way += 1;
        Attempt {
            limiter: self,
            ended_before: attempts.ended,
            withdrawn: false,
        }
    }
}

impl Attempt<'_> {
    /// Ends a refused attempt without a notification, because it releases nothing. Returns `false` if no other call can release part
    /// of the cap.
    fn withdraw(&mut self) -> bool {
        let mut attempts = lock(&self.limiter.attempts);
        self.withdrawn = attempts.under_way > 1 || attempts.ended != self.ended_before;
        attempts.under_way -= usize::from(self.withdrawn);
        self.withdrawn
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.withdrawn {
            let mut attempts = lock(&self.limiter.attempts);
            attempts.under_way -= 1;
            attempts.ended += 1;
            self.limiter.attempt_ended.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use futures_util::future::poll_fn;
    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn z50_no_more_permits_than_allowed_and_at_least_one() {
        for (concurrency, permits) in [(0, 1), (1, 1), (3, 3), (usize::MAX, Semaphore::MAX_PERMITS)]
        {
            let limiter = Limiter::new(concurrency);
            assert_eq!(limiter.permits.available_permits(), permits);
        }
        let limiter = Limiter::new(1);
        let mut context = Context::from_waker(Waker::noop());
        let mut first = Box::pin(limiter.permit());
        let Poll::Ready(held) = first.as_mut().poll(&mut context) else {
            panic!("the permit is free");
        };
        let mut second = pin!(limiter.permit());
        assert!(second.as_mut().poll(&mut context).is_pending());
        drop(held);
        assert!(second.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn z50_a_refused_call_is_made_again_when_another_has_ended() {
        let limiter = Limiter::new(8);
        let mut context = Context::from_waker(Waker::noop());
        let (end, ended) = oneshot::channel::<()>();
        let ended = Cell::new(Some(ended));
        let mut other = Box::pin(limiter.attempt(|| ended.take().unwrap(), |_| false));
        assert!(other.as_mut().poll(&mut context).is_pending());

        let made = Cell::new(0);
        let refused = || {
            made.set(made.get() + 1);
            async { "refused" }
        };
        let mut call = pin!(limiter.attempt(refused, |_| true));
        assert!(call.as_mut().poll(&mut context).is_pending());
        assert!(call.as_mut().poll(&mut context).is_pending());
        assert_eq!(made.get(), 1);
        end.send(()).unwrap();
        assert!(other.as_mut().poll(&mut context).is_ready());
        // Alone, it is refused for good.
        assert_eq!(call.as_mut().poll(&mut context), Poll::Ready("refused"));
        assert_eq!(made.get(), 2);
    }

    #[test]
    fn z50_a_dropped_call_ends_the_wait_of_a_refused_one() {
        let limiter = Limiter::new(8);
        let mut context = Context::from_waker(Waker::noop());
        let mut other = Box::pin(limiter.attempt(std::future::pending::<()>, |()| false));
        assert!(other.as_mut().poll(&mut context).is_pending());
        let mut call = pin!(limiter.attempt(|| async {}, |()| true));
        assert!(call.as_mut().poll(&mut context).is_pending());
        drop(other);
        assert!(call.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn z50_calls_that_only_refused_ones_meet_do_not_wait_for_ever() {
        let limiter = Limiter::new(8);
        let mut context = Context::from_waker(Waker::noop());
        // Each takes two polls, so that both are under way at the same time.
        let slow = || {
            let mut polls = 0;
            poll_fn(move |_| {
                polls += 1;
                if polls < 2 {
                    Poll::Pending
                } else {
                    Poll::Ready(())
                }
            })
        };
        let mut calls = [(); 2].map(|()| Some(Box::pin(limiter.attempt(slow, |()| true))));
        for _ in 0..8 {
            for call in &mut calls {
                call.take_if(|call| call.as_mut().poll(&mut context).is_ready());
            }
        }
        assert!(calls.iter().all(Option::is_none));
    }
}
