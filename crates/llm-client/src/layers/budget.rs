//! What may be spent: reserved at its worst before a call, settled by what the reply says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::types::{Usage, Usd};
use crate::{Amount, Budget, Error, Spend};

/// The most that one attempt can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Worst {
    /// Prompt and reply in money; none when no price is known.
    pub usd: Option<Usd>,
    /// The prompt alone.
    pub prompt_usd: Option<Usd>,
    /// Tokens of prompt and reply.
    pub tokens: u64,
    /// Of the prompt alone.
    pub prompt_tokens: u64,
}

/// The account of one client.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    caps: Budget,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    spend: Spend,
    reserved_tokens: u64,
}

impl Ledger {
    pub fn new(caps: Budget) -> Self {
        Self {
            caps,
            state: Mutex::default(),
        }
    }

    pub fn spent(&self) -> Spend {
        self.with(|state| state.spend)
    }

    fn with<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        // The numbers are written together, so they are right even after a panic elsewhere.
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Holds `worst` for a call, or says which cap it could pass.
    pub fn reserve(self: &Arc<Self>, worst: Worst) -> Result<Reservation, Error> {
        self.with(|state| {
            self.hold(state, worst)?;
            let calls = state.spend.calls.saturating_add(1);
            if let Some(cap) = self.caps.calls.filter(|cap| calls > *cap) {
                release(state, worst);
                return Err(exceeded(
                    Amount::Calls(cap),
                    Amount::Calls(state.spend.calls),
                    Amount::Calls(1),
                ));
            }
            state.spend.calls = calls;
            Ok(())
        })?;
        Ok(Reservation {
            ledger: self.clone(),
            worst,
            held: true,
            sent: Arc::default(),
        })
    }

    fn hold(&self, state: &mut State, worst: Worst) -> Result<(), Error> {
        let usd = worst.usd.unwrap_or_default();
        let spend = &mut state.spend;
        // What cannot be held in 63 bits passes every cap.
        let taken = spend.usd.checked_add(spend.reserved);
        let wanted = taken.and_then(|taken| taken.checked_add(usd));
        if let Some(cap) = self.caps.usd
            && wanted.is_none_or(|wanted| wanted > cap)
        {
            return Err(exceeded(
                Amount::Usd(cap),
                Amount::Usd(taken.unwrap_or(Usd(i64::MAX))),
                Amount::Usd(usd),
            ));
        }
        let taken = spend.tokens.saturating_add(state.reserved_tokens);
        if let Some(cap) = self.caps.tokens
            && taken.saturating_add(worst.tokens) > cap
        {
            return Err(exceeded(
                Amount::Tokens(cap),
                Amount::Tokens(taken),
                Amount::Tokens(worst.tokens),
            ));
        }
        spend.reserved = spend.reserved.checked_add(usd).unwrap_or(Usd(i64::MAX));
        state.reserved_tokens = state.reserved_tokens.saturating_add(worst.tokens);
        Ok(())
    }
}

fn exceeded(cap: Amount, spent: Amount, wanted: Amount) -> Error {
    Error::BudgetExceeded {
        cap,
        spent,
        wanted,
        trail: Box::default(),
    }
}

fn release(state: &mut State, worst: Worst) {
    let usd = worst.usd.unwrap_or_default();
    let left = state.spend.reserved.checked_sub(usd).unwrap_or_default();
    state.spend.reserved = left.max(Usd::ZERO);
    state.reserved_tokens = state.reserved_tokens.saturating_sub(worst.tokens);
}

fn charge(state: &mut State, usd: Option<Usd>, tokens: u64) {
    match usd {
        Some(usd) => {
            state.spend.usd = state.spend.usd.checked_add(usd).unwrap_or(Usd(i64::MAX));
        }
        None => state.spend.unknown += 1,
    }
    state.spend.tokens = state.spend.tokens.saturating_add(tokens);
}

/// What is held for one call. Dropped unsettled, it charges for the prompt if the request went out, and nothing else.
#[derive(Debug)]
pub(crate) struct Reservation {
    ledger: Arc<Ledger>,
    worst: Worst,
    held: bool,
    /// Set by the transport when the attempt's request goes out.
    pub sent: Arc<AtomicBool>,
}

impl Reservation {
    /// The reply came: charges what it costs and used.
    pub fn settle(mut self, usd: Option<Usd>, usage: &Usage) {
        self.held = false;
        self.ledger.with(|state| {
            release(state, self.worst);
            charge(state, usd, usage.total());
        });
    }

    /// An attempt failed: charges for the prompt if it may have been billed. What is left is held for the next one.
    ///
    /// # Errors
    /// With the charge, another attempt could pass a cap.
    pub fn next_attempt(&mut self, possibly_billed: bool) -> Result<(), Error> {
        let sent = self.sent.swap(false, Ordering::Relaxed);
        if !(sent && possibly_billed) {
            return Ok(());
        }
        self.ledger.with(|state| {
            release(state, self.worst);
            charge(state, self.worst.prompt_usd, self.worst.prompt_tokens);
            // Not held any longer, should the next line refuse.
            self.held = false;
            self.ledger.hold(state, self.worst)?;
            self.held = true;
            Ok(())
        })
    }

    /// The call is over without a reply, and nothing was billed but what was charged already.
    pub fn refund(mut self) {
        self.held = false;
        self.ledger.with(|state| release(state, self.worst));
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.held {
            return;
        }
        let sent = self.sent.load(Ordering::Relaxed);
        self.ledger.with(|state| {
            release(state, self.worst);
            if sent {
                charge(state, self.worst.prompt_usd, self.worst.prompt_tokens);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ledger(usd: i64) -> Arc<Ledger> {
        Arc::new(Ledger::new(Budget {
            usd: Some(Usd(usd)),
            ..Budget::default()
        }))
    }

    fn worst(usd: i64, prompt: i64) -> Worst {
        Worst {
            usd: Some(Usd(usd)),
            prompt_usd: Some(Usd(prompt)),
            tokens: 10,
            prompt_tokens: 4,
        }
    }

    #[test]
    fn a_dropped_call_pays_for_the_prompt_only_when_it_went_out() {
        let ledger = ledger(100);
        drop(ledger.reserve(worst(60, 20)).unwrap());
        assert_eq!(ledger.spent().usd, Usd::ZERO);
        let call = ledger.reserve(worst(60, 20)).unwrap();
        call.sent.store(true, Ordering::Relaxed);
        drop(call);
        assert_eq!(
            (ledger.spent().usd, ledger.spent().reserved),
            (Usd(20), Usd::ZERO)
        );
    }

    #[test]
    fn an_attempt_that_may_have_been_billed_is_charged_and_the_next_one_asks_again() {
        let ledger = ledger(100);
        let mut call = ledger.reserve(worst(60, 50)).unwrap();
        call.sent.store(true, Ordering::Relaxed);
        assert!(matches!(
            call.next_attempt(true),
            Err(Error::BudgetExceeded { .. })
        ));
        drop(call);
        assert_eq!(
            (ledger.spent().usd, ledger.spent().reserved),
            (Usd(50), Usd::ZERO)
        );
    }

    #[test]
    fn a_cap_of_calls_counts_calls_and_not_attempts() {
        let ledger = Arc::new(Ledger::new(Budget {
            calls: Some(1),
            ..Budget::default()
        }));
        let mut call = ledger.reserve(worst(1, 1)).unwrap();
        call.next_attempt(true).unwrap();
        assert!(ledger.reserve(worst(1, 1)).is_err());
        call.settle(Some(Usd(1)), &Usage::default());
        assert_eq!(ledger.spent().reserved, Usd::ZERO);
    }

    proptest! {
        #[test]
        fn never_negative_and_never_above_the_cap(steps in prop::collection::vec((0i64..50, 0i64..50, 0u8..5), 1..60)) {
            let ledger = ledger(200);
            let mut open = Vec::new();
            for (most, part, what) in steps {
                let (most, part) = (most.max(part), most.min(part));
                match (what, open.pop()) {
                    (0 | 1, held) => {
                        open.extend(held);
                        open.extend(ledger.reserve(worst(most, part)).ok().map(|call| (call, part)));
                    }
                    (2, Some((call, part))) => call.settle(Some(Usd(part)), &Usage::default()),
                    (3, Some((mut call, part))) => {
                        call.sent.store(true, Ordering::Relaxed);
                        if call.next_attempt(true).is_ok() {
                            open.push((call, part));
                        }
                    }
                    (_, call) => drop(call),
                }
                let spend = ledger.spent();
                prop_assert!(spend.usd >= Usd::ZERO && spend.reserved >= Usd::ZERO);
                prop_assert!(spend.usd.0 + spend.reserved.0 <= 200);
            }
            drop(open);
            prop_assert_eq!(ledger.spent().reserved, Usd::ZERO);
        }
    }
}
