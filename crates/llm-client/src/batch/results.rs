//! The results of a batch that is over.

use std::cmp::Reverse;
use std::collections::HashSet;

use bytes::Bytes;
use llm_types::Charge;

use super::courier::Courier;
use super::form::{BatchStatus, ItemOutcome};
use super::key::Key;
use super::line::SpoolEntry;
use super::outcome::{goes_again, unanswered};
use super::spool::{Doubt, Spool};
use super::visit::{AGAIN, PATIENCE};
use crate::Error;
use crate::codec::{Fields, as_text, readable};

/// The sums over the results of a batch.
#[derive(Default)]
struct ResultSums {
    seen: HashSet<Key>,
    /// The number of requests with an answer, which the server may bill.
    answers: u64,
    charge: Charge,
    foreign: u64,
    /// The number of lines that cannot be read.
    unread: u64,
}

impl Spool {
    /// Takes the results of a batch that is over, and ends it once it has all.
    pub(super) async fn take_results(
        &mut self,
        name: &str,
        courier: &Courier,
        status: &BatchStatus,
    ) -> Result<(), Error> {
        let mut sums = ResultSums::default();
        let taken = self.take_files(name, courier, status, &mut sums).await;
        // The results before a failure are kept.
        self.file.flush()?;
        taken?;
        if sums.seen.is_empty() && sums.unread > 0 {
            return Err(Error::bad_response("expected results of a batch"));
        }
        if sums.foreign > 0 {
            let text = "results of other requests were ignored";
            self.problems
                .push(format!("batch {name}: {} {text}", sums.foreign));
        }
        if let Some(error) = status.why.as_ref().filter(|_| sums.seen.is_empty()) {
            return self.refuse(name, error.repeated());
        }
        if sums.answers > 0 {
            // Requests that were refused before are at fault, and not the account.
            let at = self.file.state.batches.get_index_of(name);
            self.keep_refusals(at.unwrap_or_default())?;
        }
        let row = &self.file.state.batches[name];
        let (all, discount) = (row.keys.len() as u64, row.discount);
        let missing = row.keys.iter().filter(|key| !sums.seen.contains(*key));
        let missing: Vec<Key> = missing.cloned().collect();
        // The server counts more answers than it gives, so that it may bill them.
        let unseen = (status.answered.unwrap_or(all)).saturating_sub(sums.answers);
        if !missing.is_empty() && unseen > 0 {
            let text = format!(
                "batch {name}: {} of {all} results are missing",
                missing.len()
            );
            self.problems.push(text);
            if !self.lasts(Doubt::Short, name, PATIENCE) {
                return Ok(());
            }
            let mut most = Vec::with_capacity(missing.len());
            for key in &missing {
                most.push((self.options.client).batch_most(&self.request(key)?, discount));
            }
            most.sort_by_key(|most| Reverse((most.usd, most.tokens)));
            let unseen = usize::try_from(unseen).unwrap_or(usize::MAX);
            let unseen = most.into_iter().take(unseen);
            sums.charge = unseen.fold(sums.charge, Charge::plus);
        }
        self.end_unanswered(name, &status.word)?;
        self.close(name, Some(sums.charge), &status.word)
    }

    async fn take_files(
        &mut self,
        name: &str,
        courier: &Courier,
        status: &BatchStatus,
        sums: &mut ResultSums,
    ) -> Result<(), Error> {
        for url in courier.results(status)? {
            let mut lines = courier.open(&url).await?;
            while let Some(line) = lines.next().await {
                self.take_line(name, courier, &line?, sums).await?;
            }
        }
        Ok(())
    }

    /// Takes one result: the first of each request of the batch.
    async fn take_line(
        &mut self,
        name: &str,
        courier: &Courier,
        line: &Bytes,
        sums: &mut ResultSums,
    ) -> Result<(), Error> {
        let text = readable(line);
        let text = as_text(&text);
        let Some(fields) = Fields::of(&text) else {
            // Cut, or none of ours: its request counts as missing.
            sums.unread += u64::from(!text.trim().is_empty());
            return Ok(());
        };
        let id = fields.text("custom_id").unwrap_or_default();
        let row = &self.file.state.batches[name];
        let discount = row.discount;
        let Some(key) = row.keys.get(id.as_str()).cloned() else {
            sums.foreign += 1;
            return Ok(());
        };
        let outcome = (courier.rules.outcome)(&fields);
        let Some(outcome) = outcome.filter(|_| !sums.seen.contains(&key)) else {
            return Ok(());
        };
        let result = match outcome {
            ItemOutcome::Unanswered(why) => Err(unanswered(&why)),
            ItemOutcome::Answer { status, body } => {
                let body = Bytes::copy_from_slice(body.get().as_bytes());
                let (request, client) = (self.request(&key)?, &self.options.client);
                let (result, charge) = client.batch_reply(&request, discount, status, body).await;
                sums.charge = sums.charge.plus(charge);
                sums.answers += 1;
                result
            }
        };
        sums.seen.insert(key.clone());
        let state = &self.file.state.keys[&key];
        let waits = result.as_ref().is_err_and(goes_again) && state.tries <= AGAIN;
        if state.result.is_none() && !waits {
            self.file.add(&SpoolEntry::result(key, result))?;
        }
        Ok(())
    }
}
