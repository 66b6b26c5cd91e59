//! The reservations of batches. The process that settles one need not be the one that made it.

use llm_types::Charge;

use super::{BatchEntry, BudgetLedger, BudgetState};
use crate::Error;
use crate::layers::ledger_file::Settlement;

impl BudgetLedger {
    /// Reserves `most` for the `calls` of a batch that is not submitted yet.
    ///
    /// # Errors
    /// The batch could exceed a cap.
    pub fn reserve_batch(&self, name: &str, calls: u64, most: Charge) -> Result<(), Error> {
        self.with(|state| {
            let entry = self.reserve_calls(state, most.into(), Some((name, calls)))?;
            state.set(name, Some(BatchEntry { entry, most, calls }));
            Ok(())
        })
    }

    /// Whether [`Self::reserve_batch`] would succeed.
    pub fn has_room(&self, calls: u64, most: Charge) -> bool {
        self.with(|state| self.check(state, calls, most.into()).is_ok())
    }

    /// Reserves `most` for a batch under way, whatever the caps are, unless the account knows the batch.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn hold_batch(&self, name: &str, calls: u64, most: Charge) -> Result<(), Error> {
        self.with(|state| {
            if state.batches.contains_key(name) {
                return Ok(());
            }
            let entry = self.reserve_uncapped(state, most.into(), Some((name, calls)))?;
            state.spend.calls = state.spend.calls.saturating_add(calls);
            state.set(name, Some(BatchEntry { entry, most, calls }));
            Ok(())
        })
    }

    /// Ends the reservation with a charge, or with `None` if the batch was not submitted: then the account forgets it. Of a
    /// batch without a reservation nothing happens.
    pub fn settle_batch(&self, name: &str, charge: Option<Charge>) {
        self.with(|state| {
            let Some(BatchEntry { entry, most, calls }) =
                state.batches.get(name).copied().flatten()
            else {
                return;
            };
            state.release(most.into());
            let how = match charge {
                None => Settlement::Refund,
                Some(charge) if charge.certain => Settlement::Usage,
                Some(_) => Settlement::Reserved,
            };
            match charge {
                None => state.spend.calls = state.spend.calls.saturating_sub(calls),
                Some(charge) => state.spend.add(charge),
            }
            if let Some(file) = &mut state.file {
                file.settle(entry, charge.unwrap_or(Charge::NONE), how);
            }
            match charge {
                None => drop(state.batches.remove(name)),
                Some(_) => state.set(name, None),
            }
        });
    }
}

impl BudgetState {
    fn set(&mut self, name: &str, entry: Option<BatchEntry>) {
        self.batches.insert(name.to_owned(), entry);
    }
}
