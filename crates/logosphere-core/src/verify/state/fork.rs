//! Forks and changes from outside, in the state of a run.

use serde_json::Value;

use super::error::StateError;
use super::run_state::RunState;
use crate::config::{MindEntry, Settings, SettingsError};
use crate::journal::{
    Forked, Intervention, InterventionChange, OwnTotals, RequestTemplate, fork_seed,
};
use crate::pool::{MessageId, MindId, Origin};

impl RunState {
    /// The settings of [`Settings::SETTABLE`] that are in no request.
    pub const UNSENT: &[&str] = &["k_samples", "m_active_pool"];

    /// Returns the event of a fork at this point, after the line `seq` with this chain.
    pub fn forked(&self, forked: Forked, seq: u64, chain: &str) -> Forked {
        Forked {
            parent_run_id: self.run_id.clone(),
            parent_seq: seq,
            parent_chain: chain.to_owned(),
            seed: fork_seed(self.settings.seed, forked.replicate),
            ..forked
        }
    }

    /// Returns the event of a change at this point, with the facts of the state.
    pub fn intervention(&self, change: InterventionChange) -> Intervention {
        let (round, next_mind) = self.next_call();
        let change = match change {
            InterventionChange::Inject { texts, .. } => {
                let ids = (self.pool.len()..).map(MessageId);
                InterventionChange::Inject {
                    added_ids: ids.take(texts.len()).collect(),
                    texts,
                }
            }
            InterventionChange::SwapMind {
                mind_id,
                new,
                request_template,
                ..
            } => InterventionChange::SwapMind {
                old: self.entry_at(mind_id),
                mind_id,
                new,
                request_template,
            },
            InterventionChange::Set {
                setting,
                new,
                request_template,
                ..
            } => InterventionChange::Set {
                old: setting_of(&self.settings, &setting).unwrap_or_default(),
                setting,
                new,
                request_template,
            },
            change => change,
        };
        Intervention {
            round,
            next_mind,
            change,
        }
    }

    /// Returns the settings after a change.
    ///
    /// # Errors
    /// [`StateError`] if the change cannot be made here.
    pub fn settings_after(&self, change: &InterventionChange) -> Result<Settings, StateError> {
        let settings = self.settings.clone();
        match change {
            InterventionChange::Inject { .. } | InterventionChange::Ablate { .. } => Ok(settings),
            InterventionChange::SwapMind { mind_id, new, .. } => {
                // An altered journal may have any number.
                if mind_id.0 >= settings.n_minds || settings.n_minds > Settings::MOST_MINDS {
                    return Err(StateError::Position { position: *mind_id });
                }
                let mut minds: Vec<_> = (0..settings.n_minds)
                    .map(|position| self.entry_at(MindId(position)))
                    .collect();
                minds[mind_id.0 as usize] = new.clone();
                Ok(settings.with(|settings| {
                    settings.minds = Some(minds);
                    settings.mind = None;
                }))
            }
            InterventionChange::Set { setting, new, .. } => {
                let refused = || SettingsError {
                    setting: setting.clone(),
                    value: new.to_string(),
                };
                let root = setting.split('.').next().unwrap_or_default();
                if !Settings::SETTABLE.contains(&root) {
                    return Err(refused().into());
                }
                Ok(settings.with_value(setting, new).ok_or_else(refused)?)
            }
        }
    }

    /// The mind at a position.
    fn entry_at(&self, position: MindId) -> MindEntry {
        let settings = &self.settings;
        let minds = settings.minds.as_ref();
        let entry = minds.and_then(|minds| minds.get(settings.entry_of(position.0)));
        entry.cloned().unwrap_or_else(|| settings.common_entry())
    }

    /// Returns the totals of the calls after the last fork, or of all calls.
    pub fn own_totals(&self) -> OwnTotals {
        self.own().unwrap_or_else(|| self.totals())
    }

    pub(super) fn own(&self) -> Option<OwnTotals> {
        let before = self.forked.as_ref()?;
        let mut own = self.totals();
        own.calls -= before.calls;
        own.tokens.prompt = own.tokens.prompt.saturating_sub(before.tokens.prompt);
        own.tokens.completion = (own.tokens.completion).saturating_sub(before.tokens.completion);
        own.errors -= before.errors;
        own.cost_usd = own.cost_usd.map(|usd| {
            // In billionths of a dollar, so that a difference has no more digits than its numbers.
            let nano = |usd: f64| (usd * 1e9).round();
            (nano(usd) - nano(before.cost_usd.unwrap_or_default())) / 1e9
        });
        Some(own)
    }

    pub(super) fn fork(&mut self, forked: &Forked) -> Result<(), StateError> {
        if forked.max_rounds < self.next_call().0.0 {
            return Err(StateError::Order {
                expected: "a fork with at least one round".to_owned(),
                found: "forked",
            });
        }
        self.forked = Some(self.totals());
        self.run_id.clone_from(&forked.run_id);
        self.settings.seed = forked.seed;
        self.settings.max_rounds = forked.max_rounds;
        self.begin_again();
        Ok(())
    }

    pub(super) fn intervene(&mut self, event: &Intervention) -> Result<(), StateError> {
        if (event.round, event.next_mind) != self.next_call() {
            return Err(self.unexpected("intervention"));
        }
        let settings = self.settings_after(&event.change)?;
        match &event.change {
            InterventionChange::Inject { texts, added_ids } => {
                let mut ids = Vec::new();
                for text in texts {
                    ids.push(self.pool.add(text, Origin::Injected)?);
                }
                if ids != *added_ids {
                    let found = added_ids.clone();
                    return Err(StateError::Ids {
                        expected: ids,
                        found,
                    });
                }
            }
            InterventionChange::Ablate { ids } => {
                for id in ids {
                    if !self.pool.ablate(*id) {
                        return Err(StateError::NotActive { id: *id });
                    }
                    if let Some(open) = &mut self.open {
                        open.view.ablate(*id);
                    }
                }
            }
            InterventionChange::SwapMind {
                mind_id,
                request_template,
                ..
            } => {
                let templates = (0..settings.n_minds).map(|position| {
                    if position == mind_id.0 {
                        request_template.clone()
                    } else {
                        self.template_of(MindId(position)).alone()
                    }
                });
                self.template = RequestTemplate::list(templates.collect());
            }
            InterventionChange::Set {
                setting,
                request_template,
                ..
            } => {
                if setting == "m_active_pool" {
                    self.pool.resize(settings.m_active_pool);
                }
                let is_sent = !Self::UNSENT.contains(&setting.as_str());
                if is_sent != request_template.is_some() {
                    return Err(StateError::Template {
                        setting: setting.clone(),
                    });
                }
                if let Some(template) = request_template {
                    self.template = template.clone();
                }
            }
        }
        self.use_settings(settings);
        Ok(())
    }
}

/// The value of a setting such as `options.temperature`.
fn setting_of(settings: &Settings, setting: &str) -> Option<Value> {
    let all = serde_json::to_value(settings).ok()?;
    let value = (setting.split('.')).try_fold(&all, |place, name| place.get(name))?;
    Some(value.clone())
}
