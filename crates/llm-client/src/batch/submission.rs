//! The way of waiting requests to the server.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use llm_types::{Charge, Request};

use super::courier::Courier;
use super::form::FormRules;
use super::key::Key;
use super::line::SpoolEntry;
use super::outcome::{is_cut, is_of_money, is_passing, is_refusal};
use super::spool::{Doubt, Spool, SpoolFailure};
use super::state::REFUSED;
use crate::Error;
use crate::layers::budget::SendState;
use crate::models::Factor;

/// The maximum number of requests whose refusal, each alone, is the fault of the request and not of the account.
const MOST_AT_FAULT: usize = 2;
/// The bytes of a batch that are put together at a stretch.
const PART: usize = 1 << 20;

impl Spool {
    /// Submits the requests that wait, in batches of one model each; plain calls are made if it `may_call`.
    pub(super) async fn send_waiting(&mut self, may_call: bool) -> Vec<SpoolFailure> {
        let mut failures = self.send_by_model(may_call).await;
        if let Err(error) = self.end_refusals() {
            let keys = self.waiting().map(|(key, _)| key.clone()).collect();
            failures.push(SpoolFailure { keys, error });
        }
        if self.file.state.open().next().is_some() {
            // The batches under way are paid for, and may cost less than is reserved.
            let is_waited_for = |failure: &mut SpoolFailure| is_of_money(&failure.error);
            let waits = failures.extract_if(.., is_waited_for);
            self.problems
                .extend(waits.map(|failure| failure.error.message()));
        }
        failures
    }

    /// A failure ends the submission to its model only, and is about the requests that are in no batch then.
    async fn send_by_model(&mut self, may_call: bool) -> Vec<SpoolFailure> {
        let mut models: IndexMap<String, Vec<Key>> = IndexMap::new();
        for (key, state) in self.waiting() {
            let keys = models.entry(state.model.clone()).or_default();
            keys.push(key.clone());
        }
        let mut failures = Vec::new();
        for (model, keys) in models {
            let sent = match FormRules::of(self.options.client.batch_form(&model)) {
                Some(rules) => self.send_each(rules, &model, &keys).await,
                None if may_call => self.call_each(&keys).await,
                None => Ok(()),
            };
            if let Err(error) = sent {
                let keys = self.waiting().filter(|(_, state)| state.model == model);
                let keys = keys.map(|(key, _)| key.clone()).collect();
                failures.push(SpoolFailure { keys, error });
            }
        }
        failures
    }

    async fn send_each(
        &mut self,
        rules: &'static FormRules,
        model: &str,
        keys: &[Key],
    ) -> Result<(), Error> {
        let courier = self.courier(rules, model)?;
        let mut rest = keys;
        while !rest.is_empty() {
            let Some(sent) = self.send(&courier, rest).await? else {
                break;
            };
            rest = &rest[sent..];
            let refused = keys.iter().filter(|key| self.refused.contains_key(*key));
            if refused.count() > MOST_AT_FAULT {
                break;
            }
        }
        Ok(())
    }

    /// The requests about batches to the server of `model`.
    pub(super) fn courier(
        &mut self,
        rules: &'static FormRules,
        model: &str,
    ) -> Result<Courier, Error> {
        let client = &self.options.client;
        // Any request: those in the file may be none that is sent today.
        let (wire, _) = client.batch_root(&Request::new(model, "any"))?;
        self.file.redactor = wire.redactor();
        Ok(Courier::new(client, rules, wire))
    }

    /// Submits the first of `keys` as one batch. Returns the number of them that wait no longer; `None` if no other batch may
    /// follow now.
    async fn send(&mut self, courier: &Courier, keys: &[Key]) -> Result<Option<usize>, Error> {
        let ledger = self.options.client.inner.ledger.clone();
        let name = self.file.state.next_batch();
        // A submission that could not be written down left a reservation for nothing.
        ledger.settle_batch(&name, None);
        let limit = courier.rules.requests.min(self.limit);
        let (body, count, most, discount) = self.assemble(courier, keys, limit).await?;
        ledger.reserve_batch(&name, count as u64, most)?;
        self.file.append(&SpoolEntry::Submitting {
            batch: name.clone(),
            server: courier.server()?,
            keys: keys[..count].to_vec(),
            most,
            discount,
        })?;
        let sent = Arc::new(SendState::default());
        let keys = &keys[..count];
        let uploaded = self.uploaded.take().filter(|(own, _)| own == keys);
        let mut file = uploaded.map(|(_, file)| file);
        let error = match courier.submit(&name, body, &mut file, &sent).await {
            Ok(id) => {
                self.note_id(&name, id)?;
                let most = self.options.max_requests.max(1);
                self.limit = self.limit.saturating_mul(2).min(most);
                return Ok(Some(count));
            }
            Err(error) => error,
        };
        if is_refusal(&error) {
            self.refuse(&name, error)?;
            return Ok(Some(usize::from(count == 1)));
        }
        if is_cut(&error) {
            self.limit = (count / 2).max(1);
        }
        // Where the server may have the batch, the next looks decide.
        let may_be_there = match error.status() {
            _ if sent.may_be_billed() => true,
            Some(500..=503 | 529) if sent.is_sent() => {
                self.lasts(Doubt::Failed, &name, Duration::ZERO);
                true
            }
            // After a timeout a server, or the one that a proxy asked, may still be at work.
            Some(status) => sent.is_sent() && (status == 408 || status >= 500),
            None => false,
        };
        if !may_be_there {
            self.close(&name, None, REFUSED)?;
            if !is_passing(&error) || error.status() == Some(404) {
                return Err(error);
            }
        }
        self.uploaded = file.map(|file| (keys.to_vec(), file));
        self.problems.push(error.message());
        Ok(None)
    }

    /// The body of a batch of the first of `keys`, the number of them in it, their maximum cost and the factor on prices. All
    /// but the first are within the budget: the rest follows when they are paid for.
    async fn assemble(
        &self,
        courier: &Courier,
        keys: &[Key],
        limit: usize,
    ) -> Result<(Vec<u8>, usize, Charge, Factor), Error> {
        let (client, rules) = (&self.options.client, courier.rules);
        let ledger = &client.inner.ledger;
        let (mut body, route) = (rules.begin.as_bytes().to_vec(), courier.route());
        let (mut count, mut most, mut discount) = (0, Charge::NONE, Factor::ONE);
        for key in keys.iter().take(limit) {
            let item = client.batch_item(&self.request(key)?).await?;
            let (before, sum) = (body.len(), most.plus(item.most));
            let is_small = before + item.wire.body.len() + rules.item_overhead <= rules.bytes;
            if count > 0 && !(is_small && ledger.has_room(count as u64 + 1, sum)) {
                break;
            }
            (rules.add)(&mut body, key, &route, &item.wire.body);
            (count, most, discount) = (count + 1, sum, item.discount);
            if body.len() / PART > before / PART {
                tokio::task::yield_now().await;
            }
        }
        body.extend_from_slice(rules.end.as_bytes());
        Ok((body, count, most, discount))
    }

    /// Ends a batch that the server refuses as a whole. Of several requests, half are in the next batch; the error of a single
    /// one may be its result.
    pub(super) fn refuse(&mut self, name: &str, error: Error) -> Result<(), Error> {
        self.close(name, None, REFUSED)?;
        let batches = &self.file.state.batches;
        let (at, keys) = (batches.get_index_of(name), &batches[name].keys);
        let (at, count, first) = (at.unwrap_or_default(), keys.len(), keys.first().cloned());
        self.limit = (count / 2).max(1);
        let text = "was refused; if it has several requests, they go into smaller ones";
        self.problems
            .push(format!("batch {name} {text}: {}", error.message()));
        if let Some(key) = first.filter(|_| count == 1 && is_refusal(&error)) {
            let error = error.after_attempt(self.target(&key), Charge::NONE);
            self.refused.insert(key, (at, error));
        }
        Ok(())
    }

    /// Makes the errors of requests that were refused before the batch at `before` their results.
    pub(super) fn keep_refusals(&mut self, before: usize) -> Result<(), Error> {
        let all = std::mem::take(&mut self.refused);
        let (old, new) = all.into_iter().partition(|(_, (at, _))| *at < before);
        self.refused = new;
        let old: IndexMap<Key, (usize, Error)> = old;
        for (key, (_, error)) in old {
            self.file.append(&SpoolEntry::result(key, Err(error)))?;
        }
        Ok(())
    }

    /// Decides about refused requests if no batch is under way whose answers would do so.
    fn end_refusals(&mut self) -> Result<(), Error> {
        if self.file.state.open().next().is_some() {
            return Ok(());
        }
        if self.refused.len() > MOST_AT_FAULT {
            let all = std::mem::take(&mut self.refused);
            let first = all.into_iter().next();
            return first.map_or(Ok(()), |(_, (_, error))| Err(error));
        }
        if self.waiting().next().is_some() {
            return Ok(());
        }
        self.keep_refusals(usize::MAX)
    }

    /// Writes the id of a batch down.
    pub(super) fn note_id(&mut self, name: &str, id: String) -> Result<(), Error> {
        let batch = name.to_owned();
        self.file.append(&SpoolEntry::Submitted { batch, id })
    }

    /// Ends a batch with its charge, or with `None` if the server did not take it.
    pub(super) fn close(
        &mut self,
        name: &str,
        charge: Option<Charge>,
        state: &str,
    ) -> Result<(), Error> {
        // First: a batch that is closed is not looked at again.
        let ledger = &self.options.client.inner.ledger;
        ledger.settle_batch(name, charge);
        self.file.append(&SpoolEntry::Closed {
            batch: name.to_owned(),
            state: state.to_owned(),
            charge,
        })
    }
}
