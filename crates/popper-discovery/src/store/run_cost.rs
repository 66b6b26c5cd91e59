//! The tokens and the price of a run's model calls.

use serde::Serialize;

use super::error::StoreError;
use super::filter::RowPage;
use super::interface::Store;
use super::row::{ModelCallRow, UsageRow};

/// Calls that are read at once: each has a prompt and a reply.
const CALLS: u32 = 50;

/// Calls, tokens and money. A number that a server does not report is unknown, and never silently counted as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunCost {
    /// Number of calls to a model.
    pub calls: u64,
    /// Tokens of the prompts, of the calls that report them.
    pub input_tokens: u64,
    /// Tokens of the replies, of the calls that report them.
    pub output_tokens: u64,
    /// Number of calls whose tokens are unknown.
    pub calls_without_tokens: u64,
    /// Billionths of a US dollar, of the calls with a price. `None` if no call has one.
    pub nano_usd: Option<i64>,
    /// Number of calls whose price is unknown.
    pub calls_without_price: u64,
    /// Number of attempts that ended without a usage. They leave no row: a program that keeps a ledger sets the number.
    #[serde(skip_serializing_if = "is_zero")]
    pub unsettled: u64,
    /// The highest possible cost of these attempts, in billionths of a US dollar.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncertain_nano_usd: i64,
}

fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}

impl RunCost {
    /// Returns the cost of the calls of a run.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn read(store: &mut impl Store, run_id: i64) -> Result<Self, StoreError> {
        let mut cost = Self::default();
        let mut next = Some(RowPage::first(CALLS));
        while let Some(page) = next {
            let rows = store.call_page(run_id, page).await?;
            for row in &rows {
                cost.add(&row.call);
            }
            next = page.next(&rows, |row| row.id);
        }
        Ok(cost)
    }

    /// Adds a call. A usage that cannot be read counts as unknown.
    pub fn add(&mut self, call: &ModelCallRow) {
        let usage: UsageRow = serde_json::from_str(&call.usage_json).unwrap_or_default();
        let (input, output) = (usage.input_tokens, usage.output_tokens);
        self.calls += 1;
        self.input_tokens = self.input_tokens.saturating_add(input.unwrap_or(0));
        self.output_tokens = self.output_tokens.saturating_add(output.unwrap_or(0));
        if input.is_none() || output.is_none() {
            self.calls_without_tokens += 1;
        }
        match usage.nano_usd {
            Some(nano) => {
                self.nano_usd = Some(self.nano_usd.unwrap_or(0).saturating_add(nano));
            }
            None => self.calls_without_price += 1,
        }
    }
}
