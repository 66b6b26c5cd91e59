//! The tokens, the time and the cost of a run.

use llm_types::Usd;
use serde::{Deserialize, Serialize};

use super::ReportedEncodingSystem;
use super::grouped::encoding_ids;
use crate::model::CallTally;
use crate::{ExperimentResult, TokenUse};

/// The tokens, the time and the cost of a run. A run that was watched counts every call once; of results that were only
/// read, and of each encoding, a call that several results share counts in each of them: these are the most that can have
/// been spent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunCost {
    /// Calls, those answered from a store too.
    pub calls: u64,
    /// Requests that repeat a call after a failure; `None` in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u64>,
    /// Tokens that replies report.
    pub tokens_spent: TokenUse,
    /// The cost, in JSON dollars as a text; `None` if that of a result is not known.
    #[serde(with = "crate::metrics::cost::dollars::option")]
    pub usd: Option<Usd>,
    /// The cost of each encoding.
    pub per_encoding: Vec<EncodingSystemCost>,
}

/// The tokens and the cost of one encoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EncodingSystemCost {
    /// The encoding.
    pub encoding_id: String,
    /// Calls, those answered from a store too.
    pub calls: u64,
    /// Tokens that replies report.
    pub tokens_spent: TokenUse,
    /// The cost, in JSON dollars as a text; `None` if that of a result is not known.
    #[serde(with = "crate::metrics::cost::dollars::option")]
    pub usd: Option<Usd>,
}

impl RunCost {
    /// Replaces what results say of the whole run by what its calls took.
    pub(crate) fn spent(&mut self, tally: &CallTally) {
        self.calls = u64::from(tally.calls);
        self.retries = Some(u64::from(tally.retries));
        self.tokens_spent = tally.usage.unwrap_or_default();
        // Without a reply nothing has a price.
        self.usd = (!tally.unpriced).then(|| tally.cost.unwrap_or_default());
    }

    pub(crate) fn of(encodings: &[ReportedEncodingSystem], results: &[ExperimentResult]) -> Self {
        let retries = results
            .iter()
            .map(|result| u64::from(result.metadata.retries));
        let mut run = Self {
            retries: Some(retries.sum()),
            usd: Some(Usd::ZERO),
            ..Self::default()
        };
        for id in encoding_ids(encodings, results) {
            let mut own = EncodingSystemCost {
                encoding_id: id.to_owned(),
                calls: 0,
                tokens_spent: TokenUse::default(),
                usd: Some(Usd::ZERO),
            };
            for result in results.iter().filter(|result| result.encoding_id == id) {
                own.calls += u64::from(result.metadata.total_api_calls);
                own.tokens_spent += result.metadata.total_tokens_used;
                let usd = result.cost.as_ref().and_then(|cost| cost.usd);
                own.usd = sum(own.usd, usd);
            }
            run.calls += own.calls;
            run.tokens_spent += own.tokens_spent;
            run.usd = sum(run.usd, own.usd);
            run.per_encoding.push(own);
        }
        run
    }
}

/// A sum of which no part is unknown.
fn sum(a: Option<Usd>, b: Option<Usd>) -> Option<Usd> {
    a?.checked_add(b?)
}
