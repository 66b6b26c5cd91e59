//! The budget: an upper bound is reserved before each attempt, and charged unless the provider reports its usage.

#[cfg(feature = "batch")]
mod batch;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use llm_types::{Charge, Clock, Usd};

use super::ledger_file::{LedgerWriter, Settlement};
use crate::error::{Amount, ConnectPhase, TimeoutPhase};
use crate::provider::HttpResponse;
use crate::{Budget, Error, ErrorKind, Spend};

/// The maximum cost of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CostBound {
    /// The cost of prompt and reply; `None` if no price is known.
    pub usd: Option<Usd>,
    /// The tokens of prompt and reply.
    pub tokens: u64,
}

impl From<Charge> for CostBound {
    fn from(charge: Charge) -> Self {
        let Charge { usd, tokens, .. } = charge;
        Self { usd, tokens }
    }
}

/// The reservation of a batch, which ends with the batch and not with the process.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    not(feature = "batch"),
    expect(dead_code, reason = "a ledger with batches is read all the same")
)]
pub(crate) struct BatchEntry {
    /// The number of the line in the file.
    pub entry: u64,
    pub most: Charge,
    pub calls: u64,
}

/// The account of one client.
pub(crate) struct BudgetLedger {
    caps: Budget,
    clock: Arc<dyn Clock>,
    state: Mutex<BudgetState>,
}

#[derive(Default)]
struct BudgetState {
    spend: Spend,
    reserved_tokens: u64,
    /// The file that every change is written to before it is made.
    file: Option<LedgerWriter>,
    /// The batches by their names; `None` once the batch is paid for.
    batches: HashMap<String, Option<BatchEntry>>,
}

impl BudgetState {
    /// Adds `most` to the reserved amounts.
    fn add_reserved(&mut self, most: CostBound) {
        let usd = most.usd.unwrap_or_default();
        self.spend.reserved = self.spend.reserved.saturating_add(usd);
        self.reserved_tokens = self.reserved_tokens.saturating_add(most.tokens);
    }

    /// Takes `most` out of the reserved amounts.
    fn release(&mut self, most: CostBound) {
        let usd = most.usd.unwrap_or_default();
        let left = self.spend.reserved.checked_sub(usd).unwrap_or_default();
        self.spend.reserved = left.max(Usd::ZERO);
        self.reserved_tokens = self.reserved_tokens.saturating_sub(most.tokens);
    }
}

impl BudgetLedger {
    pub fn new(caps: Budget, clock: Arc<dyn Clock>) -> Self {
        Self {
            caps,
            clock,
            state: Mutex::default(),
        }
    }

    /// Keeps the account in `file` from now on, and adds its amounts.
    ///
    /// # Errors
    /// The account has reservations of batches, which the file may have, too.
    pub fn keep(&self, mut file: LedgerWriter) -> Result<(), Error> {
        self.with(|state| {
            if state.batches.values().any(Option::is_some) {
                let why = "it is kept too late for the batches under way; keep it before the spool is opened";
                return Err(Error::refused("ledger", why));
            }
            state.spend = state.spend.plus(&file.spent());
            let batches = file.take_batches();
            for batch in batches.values().flatten() {
                state.add_reserved(batch.most.into());
            }
            state.batches.extend(batches);
            state.file = Some(file);
            Ok(())
        })
    }

    pub fn spent(&self) -> Spend {
        self.with(|state| state.spend)
    }

    fn with<R>(&self, change: impl FnOnce(&mut BudgetState) -> R) -> R {
        // The numbers are written together, so they are right even after a panic elsewhere.
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reserves `most` for the first attempt of a call, or returns the cap that it could exceed.
    pub fn reserve(self: &Arc<Self>, most: CostBound) -> Result<Reservation, Error> {
        let entry = self.with(|state| self.reserve_calls(state, most, None))?;
        Ok(Reservation {
            ledger: self.clone(),
            most,
            held: Some(entry),
            known: None,
            send_state: Arc::default(),
        })
    }

    /// Reserves `most` for a call, or for the calls of a batch.
    fn reserve_calls(
        &self,
        state: &mut BudgetState,
        most: CostBound,
        batch: Option<(&str, u64)>,
    ) -> Result<u64, Error> {
        let calls = batch.map_or(1, |(_, calls)| calls);
        self.check(state, calls, most)?;
        let entry = self.reserve_uncapped(state, most, batch)?;
        state.spend.calls = state.spend.calls.saturating_add(calls);
        Ok(entry)
    }

    /// Returns the cap that this many calls could exceed.
    fn check(&self, state: &BudgetState, wanted: u64, most: CostBound) -> Result<(), Error> {
        let calls = state.spend.calls.saturating_add(wanted);
        if let Some(cap) = self.caps.calls.filter(|cap| calls > *cap) {
            let (spent, wanted) = (Amount::Calls(state.spend.calls), Amount::Calls(wanted));
            return Err(exceeded(Amount::Calls(cap), spent, wanted));
        }
        self.check_amounts(state, most)
    }

    fn check_amounts(&self, state: &BudgetState, most: CostBound) -> Result<(), Error> {
        let usd = most.usd.unwrap_or_default();
        let spend = &state.spend;
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
            && taken.saturating_add(most.tokens) > cap
        {
            return Err(exceeded(
                Amount::Tokens(cap),
                Amount::Tokens(taken),
                Amount::Tokens(most.tokens),
            ));
        }
        Ok(())
    }

    /// Reserves `most`, whatever the caps are, and returns the number of the line in the file, 0 without one.
    fn reserve_uncapped(
        &self,
        state: &mut BudgetState,
        most: CostBound,
        batch: Option<(&str, u64)>,
    ) -> Result<u64, Error> {
        let entry = match &mut state.file {
            Some(file) => file.reserve(most, batch, self.clock.now())?,
            None => 0,
        };
        state.add_reserved(most);
        Ok(entry)
    }

    /// Ends the reservation `entry` with `charge`.
    fn close(&self, entry: u64, most: CostBound, charge: Charge, how: Settlement) {
        self.with(|state| {
            state.release(most);
            if how != Settlement::Refund {
                state.spend.add(charge);
            }
            if let Some(file) = &mut state.file {
                file.settle(entry, charge, how);
            }
        });
    }
}

fn exceeded(cap: Amount, spent: Amount, wanted: Amount) -> Error {
    ErrorKind::BudgetExceeded { cap, spent, wanted }.into()
}

/// The progress of an attempt's request. Only one that was not sent, or that got an HTTP error, is free.
#[derive(Debug, Default)]
pub(crate) struct SendState(AtomicU8);

impl SendState {
    const UNSENT: u8 = 0;
    const SENT: u8 = 1;
    const DECLINED: u8 = 2;

    /// Sends the request and tracks its progress.
    pub async fn watch(
        &self,
        sending: impl Future<Output = Result<HttpResponse, Error>>,
    ) -> Result<HttpResponse, Error> {
        self.0.store(Self::SENT, Ordering::Relaxed);
        let result = sending.await;
        match &result {
            Ok(response) if response.status >= 400 => {
                self.0.store(Self::DECLINED, Ordering::Relaxed);
            }
            Err(error) if is_unsent(error) => self.0.store(Self::UNSENT, Ordering::Relaxed),
            _ => {}
        }
        result
    }

    #[cfg(feature = "batch")]
    pub fn is_sent(&self) -> bool {
        self.0.load(Ordering::Relaxed) != Self::UNSENT
    }

    pub fn may_be_billed(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::SENT
    }
}

/// Whether the error means that no request reached a server.
fn is_unsent(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Connect { phase } => {
            matches!(phase, ConnectPhase::Connect | ConnectPhase::Trust)
        }
        ErrorKind::Timeout { phase, .. } => *phase == TimeoutPhase::Connect,
        ErrorKind::Refused { .. } => true,
        _ => false,
    }
}

/// The reservation of one call. A drop settles it like a failed attempt.
pub(crate) struct Reservation {
    ledger: Arc<BudgetLedger>,
    most: CostBound,
    /// The open entry of the current attempt.
    held: Option<u64>,
    /// The charge for the final usage of the attempt, if that is reported already.
    known: Option<Charge>,
    /// The progress of the current attempt's request.
    pub send_state: Arc<SendState>,
}

impl Reservation {
    /// Settles a reply: charges its usage, or the whole reservation if it reports none.
    pub fn settle(mut self, known: Option<Charge>) -> Charge {
        self.known = known;
        self.charge()
    }

    /// Sets the charge for the final usage of a stream, or clears it if the stream continues. Returns whether that is new.
    pub fn learn(&mut self, known: Option<Charge>) -> bool {
        let is_new = self.known != known;
        self.known = known;
        is_new
    }

    /// Settles a failed attempt: charges it, or keeps the reservation for the next one if it was free.
    pub fn fail(&mut self) -> Charge {
        if self.send_state.may_be_billed() {
            self.charge()
        } else {
            Charge::NONE
        }
    }

    /// Reserves the same amount for another attempt, unless the reservation is still open.
    ///
    /// # Errors
    /// Another attempt could exceed a cap.
    pub fn renew(&mut self) -> Result<(), Error> {
        self.send_state = Arc::default();
        self.known = None;
        if self.held.is_none() {
            let ledger = &self.ledger;
            self.held = Some(ledger.with(|state| {
                ledger.check_amounts(state, self.most)?;
                ledger.reserve_uncapped(state, self.most, None)
            })?);
        }
        Ok(())
    }

    /// The charge of a drop.
    pub fn if_dropped(&self) -> Charge {
        if self.held.is_some() && self.send_state.may_be_billed() {
            self.taken()
        } else {
            Charge::NONE
        }
    }

    fn taken(&self) -> Charge {
        // A usage without a price is no settlement where a price was held.
        let known = self
            .known
            .filter(|known| known.usd.is_some() || self.most.usd.is_none());
        known.unwrap_or_else(|| Charge::new(self.most.usd, self.most.tokens, false))
    }

    fn charge(&mut self) -> Charge {
        let Some(entry) = self.held.take() else {
            return Charge::NONE;
        };
        let charge = self.taken();
        let how = if charge.certain {
            Settlement::Usage
        } else {
            Settlement::Reserved
        };
        self.ledger.close(entry, self.most, charge, how);
        charge
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.fail();
        if let Some(entry) = self.held.take() {
            self.ledger
                .close(entry, self.most, Charge::NONE, Settlement::Refund);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{ErrorClass, SystemClock};

    fn ledger(caps: Budget) -> Arc<BudgetLedger> {
        Arc::new(BudgetLedger::new(caps, Arc::new(SystemClock::new())))
    }

    fn dollars(usd: i64) -> Arc<BudgetLedger> {
        ledger(Budget {
            usd: Some(Usd(usd)),
            ..Budget::default()
        })
    }

    fn most(usd: i64) -> CostBound {
        CostBound {
            usd: Some(Usd(usd)),
            tokens: 10,
        }
    }

    fn used(usd: i64) -> Charge {
        Charge::new(Some(Usd(usd)), 1, true)
    }

    fn send(call: &Reservation) {
        call.send_state.0.store(SendState::SENT, Ordering::Relaxed);
    }

    #[test]
    fn a_dropped_call_pays_all_that_was_held_only_when_it_went_out() {
        let ledger = dollars(100);
        drop(ledger.reserve(most(60)).unwrap());
        assert_eq!(ledger.spent().usd, Usd::ZERO);
        let call = ledger.reserve(most(60)).unwrap();
        send(&call);
        assert_eq!(call.if_dropped().usd, Some(Usd(60)));
        drop(call);
        let spend = ledger.spent();
        assert_eq!((spend.usd, spend.reserved), (Usd(60), Usd::ZERO));
        assert_eq!((spend.uncertain, spend.unsettled), (Usd(60), 1));
    }

    #[test]
    fn a_call_that_ends_after_its_final_usage_pays_that() {
        let ledger = dollars(100);
        let mut call = ledger.reserve(most(60)).unwrap();
        send(&call);
        call.learn(Some(used(7)));
        drop(call);
        let spend = ledger.spent();
        assert_eq!((spend.usd, spend.uncertain), (Usd(7), Usd::ZERO));
    }

    #[test]
    fn an_attempt_that_may_have_been_billed_is_charged_and_the_next_one_asks_again() {
        let ledger = dollars(100);
        let mut call = ledger.reserve(most(60)).unwrap();
        send(&call);
        assert_eq!(call.fail().usd, Some(Usd(60)));
        assert_eq!(call.renew().unwrap_err().class(), ErrorClass::Budget);
        drop(call);
        let spend = ledger.spent();
        assert_eq!((spend.usd, spend.reserved), (Usd(60), Usd::ZERO));
    }

    #[test]
    fn an_attempt_that_was_declined_costs_nothing_and_keeps_its_hold() {
        let ledger = dollars(100);
        let mut call = ledger.reserve(most(60)).unwrap();
        call.send_state
            .0
            .store(SendState::DECLINED, Ordering::Relaxed);
        assert!(call.fail().is_none());
        assert_eq!(ledger.spent().reserved, Usd(60));
        call.renew().unwrap();
        assert_eq!(ledger.spent().reserved, Usd(60));
    }

    #[test]
    fn a_cap_of_calls_counts_calls_and_not_attempts() {
        let ledger = ledger(Budget {
            calls: Some(1),
            ..Budget::default()
        });
        let mut call = ledger.reserve(most(1)).unwrap();
        send(&call);
        call.fail();
        call.renew().unwrap();
        assert!(ledger.reserve(most(1)).is_err());
        call.settle(Some(used(1)));
        assert_eq!(ledger.spent().reserved, Usd::ZERO);
    }

    proptest! {
        #[test]
        fn never_negative_and_never_above_the_cap(steps in prop::collection::vec((0i64..50, 0i64..50, 0u8..5), 1..60)) {
            let ledger = dollars(200);
            let mut open = Vec::new();
            for (a, b, what) in steps {
                let (held, part) = (a.max(b), a.min(b));
                match (what, open.pop()) {
                    (0 | 1, before) => {
                        open.extend(before);
                        open.extend(ledger.reserve(most(held)).ok().map(|call| (call, part)));
                    }
                    (2, Some((call, part))) => drop(call.settle(Some(used(part)))),
                    (3, Some((mut call, part))) => {
                        send(&call);
                        call.fail();
                        if call.renew().is_ok() {
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
