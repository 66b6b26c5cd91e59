//! Plain calls, for providers without batches.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use super::key::Key;
use super::line::SpoolEntry;
use super::outcome::{is_free_and_passing, stops_all};
use super::spool::Spool;
use crate::Error;

impl Spool {
    /// Makes a call for each request, several at once. A request that the server had no room for keeps waiting.
    pub(super) async fn call_each(&mut self, keys: &[Key]) -> Result<(), Error> {
        let client = self.options.client.clone();
        let most = client.inner.settings.limits.concurrency;
        let mut keys = keys.iter().cloned();
        let mut calls = FuturesUnordered::new();
        let mut stop = None;
        loop {
            while stop.is_none() && calls.len() < most {
                let Some(key) = keys.next() else { break };
                let made = self.request(&key).and_then(|request| {
                    self.file.redactor = client.batch_root(&request)?.0.redactor();
                    Ok(request)
                });
                let client = &client;
                match made {
                    Ok(request) => {
                        calls.push(async move { (key, client.complete_now(&request).await) });
                    }
                    Err(error) => stop = Some(error),
                }
            }
            // Calls under way are paid for: also after an error they are waited for.
            let Some((key, result)) = calls.next().await else {
                break;
            };
            let noted = match result {
                Err(error) if stops_all(error.class()) => Err(error),
                Err(error) if is_free_and_passing(&error) => {
                    self.problems.push(error.message());
                    Ok(())
                }
                result => self.file.append(&SpoolEntry::result(key, result)),
            };
            stop = stop.or(noted.err());
        }
        stop.map_or(Ok(()), Err)
    }
}
