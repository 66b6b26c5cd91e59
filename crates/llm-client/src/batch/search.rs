//! The search for a batch whose submission has no known outcome.

use std::collections::HashSet;
use std::time::Duration;

use super::courier::Courier;
use super::form::BatchStatus;
use super::key::Key;
use super::outcome::key_of;
use super::spool::{Doubt, Spool, is_before};
use super::visit::PATIENCE;
use crate::Error;

/// More than the clock of a server differs from ours.
const MARGIN: Duration = Duration::from_hours(1);
/// The maximum number of parts of a list that are read.
const PAGES: usize = 1000;
/// The number of results of other requests after which a batch is another program's.
const OTHERS: u64 = 32;

/// The whereabouts of a batch.
pub(super) enum Whereabouts {
    At(String),
    NotThere,
    /// Not known yet, for this reason.
    Later(&'static str),
}

impl Spool {
    /// Looks for a batch that may have been submitted: by its label, or where batches have none by its time, its size and a
    /// key in its results.
    pub(super) async fn find(
        &mut self,
        name: &str,
        courier: &Courier,
    ) -> Result<Whereabouts, Error> {
        let known = self.known_ids();
        let row = &self.file.state.batches[name];
        let (requests, begun) = (row.keys.len() as u64, row.at);
        let longest = courier.longest().saturating_add(MARGIN);
        let rows = self.file.state.batches.values();
        let later = rows.filter(|row| row.at >= begun);
        // Batches that the list of this account has.
        let mut listed: HashSet<String> = later.filter_map(|row| row.id.clone()).collect();
        let (mut unclear, mut after) = (None, None);
        let mut cursors = HashSet::new();
        for _ in 0..PAGES {
            let page = courier.list(after.as_deref()).await?;
            if page.is_damaged {
                unclear = Some("the server's list cannot be read as a whole");
            }
            let mut is_old = false;
            for batch in page.batches {
                listed.remove(&batch.id);
                if batch.name.as_deref() == Some(name) {
                    return Ok(Whereabouts::At(batch.id));
                }
                is_old = (batch.created).is_some_and(|at| is_before(at, begun, MARGIN));
                let is_late = (batch.created).is_some_and(|at| is_before(begun, at, longest));
                let fits = !courier.rules.is_file && batch.requests == requests;
                if is_old || is_late || !fits || known.contains(&batch.id) {
                    continue;
                }
                if !self.learn_owner(courier, &batch).await {
                    unclear = Some("a batch of its size has no results yet");
                } else if let Some(key) = &self.owners[&batch.id]
                    && self.file.state.batches[name].keys.contains(key)
                {
                    return Ok(Whereabouts::At(batch.id));
                }
            }
            after = page.next.filter(|_| !is_old);
            if (after.as_ref()).is_none_or(|id| !cursors.insert(id.clone())) {
                break;
            }
        }
        if after.is_some() {
            unclear = Some("the server's list has no end");
        }
        if !listed.is_empty() {
            unclear =
                Some("the server's list lacks batches of this spool; is the key another one?");
        }
        if let Some(why) = unclear {
            return Ok(Whereabouts::Later(why));
        }
        // The server may still be at work with the request: only time that this process saw counts.
        Ok(if self.lasts(Doubt::Absent, name, PATIENCE) {
            Whereabouts::NotThere
        } else {
            Whereabouts::Later("it is not in the server's list yet")
        })
    }

    /// Learns whose batch it is from its results. Returns whether that is known: not before it is over.
    async fn learn_owner(&mut self, courier: &Courier, batch: &BatchStatus) -> bool {
        if self.owners.contains_key(&batch.id) || !batch.is_over {
            return batch.is_over;
        }
        let mut others = 0;
        let owner = self.first_key(courier, batch, &mut others).await;
        // Results that are cut show another program's batch, too. A batch without any may be the one that is looked for.
        let is_known = matches!(owner, Ok(Some(_)))
            || others >= batch.requests.min(OTHERS)
            || (others > 0 && self.lasts(Doubt::Short, &batch.id, PATIENCE));
        if is_known {
            self.owners.insert(batch.id.clone(), owner.ok().flatten());
        }
        is_known
    }

    /// The first request of this spool in the results of a batch. `others` counts those of other programs.
    async fn first_key(
        &self,
        courier: &Courier,
        batch: &BatchStatus,
        others: &mut u64,
    ) -> Result<Option<Key>, Error> {
        for url in courier.results(batch)? {
            let mut lines = courier.open(&url).await?;
            while let Some(line) = lines.next().await {
                let Some(key) = key_of(&line?) else {
                    continue;
                };
                let own = self.file.state.keys.get_key_value(key.as_str());
                if let Some((own, _)) = own {
                    return Ok(Some(own.clone()));
                }
                *others += 1;
                if *others >= OTHERS {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }
}
