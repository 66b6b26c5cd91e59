//! A look at a batch at the server: it is found again, and asked for its state.

use std::time::Duration;

use super::courier::Courier;
use super::form::FormRules;
use super::key::Key;
use super::line::SpoolEntry;
use super::outcome::{is_of_server, is_passing, unanswered};
use super::search::Whereabouts;
use super::spool::{Doubt, Spool};
use super::state::REFUSED;
use crate::Error;

/// The number of times that a request goes into another batch.
pub(super) const AGAIN: u32 = 3;
/// The time in which a server that fails may answer, list a batch that it got, or have complete results.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);

impl Spool {
    /// Looks at a batch that is not over.
    pub(super) async fn visit(&mut self, name: &str) -> Result<(), Error> {
        let courier = self.courier_of(name)?;
        match self.look(name, &courier).await {
            // The server, or its silence, may be for good; an error of this machine or of the key is the caller's to end.
            Err(error) if !is_of_server(&error) => return Err(error),
            Err(error) if !is_passing(&error) && !self.is_too_old(name) => return Err(error),
            Err(error) => {
                let text = format!("batch {name}: {}", error.message());
                self.problems.push(text);
            }
            Ok(()) => {}
        }
        let is_closed = self.file.state.batches[name].is_closed;
        if is_closed || !self.lasts(Doubt::Open, name, PATIENCE) || !self.is_too_old(name) {
            return Ok(());
        }
        if let Some(id) = self.file.state.batches[name].id.clone() {
            self.cancel_at(name, &id, &courier).await;
        }
        self.give_up(name, "given up")
    }

    async fn look(&mut self, name: &str, courier: &Courier) -> Result<(), Error> {
        let id = match self.file.state.batches[name].id.clone() {
            Some(id) => id,
            None => match self.find(name, courier).await? {
                Whereabouts::At(id) => {
                    self.note_id(name, id.clone())?;
                    id
                }
                Whereabouts::NotThere => {
                    if self.forget(Doubt::Failed, name) {
                        // An hour without service ends no request.
                        return self.close(name, None, REFUSED);
                    }
                    self.end_unanswered(name, "not submitted")?;
                    return self.close(name, None, "not submitted");
                }
                Whereabouts::Later(_) if self.options.resubmit => {
                    let text = "may be at the server; its requests are submitted again, which may be paid twice";
                    self.problems.push(format!("batch {name}: {text}"));
                    return self.give_up(name, "submitted again");
                }
                Whereabouts::Later(why) => {
                    let text = "it is looked for at the server";
                    self.problems.push(format!("batch {name}: {text}: {why}"));
                    return Ok(());
                }
            },
        };
        let status = courier.status(&id).await?;
        if status.is_over {
            return self.take_results(name, courier, &status).await;
        }
        if self.is_cancelled && !status.word.starts_with("cancel") {
            self.cancel_at(name, &id, courier).await;
        }
        Ok(())
    }

    /// Asks the server to end a batch, which may have ended just now.
    async fn cancel_at(&mut self, name: &str, id: &str, courier: &Courier) {
        if let Err(error) = courier.cancel(id).await {
            let text = format!("batch {name} is not cancelled: {}", error.message());
            self.problems.push(text);
        }
    }

    /// The requests about a batch.
    fn courier_of(&mut self, name: &str) -> Result<Courier, Error> {
        let row = &self.file.state.batches[name];
        let first = row.keys.first();
        let Some(state) = first.and_then(|key| self.file.state.keys.get(key)) else {
            return Err(self.file.error(&format!("batch {name} has no requests")));
        };
        let (server, model) = (row.server.clone(), state.model.clone());
        if let Some(rules) = FormRules::of(self.options.client.batch_form(&model)) {
            let courier = self.courier(rules, &model)?;
            if courier.server()? == server {
                return Ok(courier);
            }
        }
        let why = format!("batch {name} is at another server; open it with {server}");
        Err(self.file.error(&why))
    }

    /// Ends a batch that may have been paid for.
    fn give_up(&mut self, name: &str, state: &str) -> Result<(), Error> {
        self.end_unanswered(name, state)?;
        let most = self.file.state.batches[name].most;
        self.close(name, Some(most), state)
    }

    /// Ends the requests of a batch without a result that were in enough batches.
    pub(super) fn end_unanswered(&mut self, name: &str, why: &str) -> Result<(), Error> {
        let state = &self.file.state;
        let is_last = |key: &&Key| {
            let state = &state.keys[*key];
            state.result.is_none() && state.tries > AGAIN
        };
        let keys = state.batches[name].keys.iter().filter(is_last).cloned();
        for key in keys.collect::<Vec<_>>() {
            self.file
                .add(&SpoolEntry::result(key, Err(unanswered(why))))?;
        }
        self.file.flush()
    }
}
