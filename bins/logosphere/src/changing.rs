//! Changes of a run from outside: from flags to events.

use std::path::{Path, PathBuf};

use bin_support::{Failure, Session};
use logosphere_core::config::{MindEntry, ModelEntry, parse_init};
use logosphere_core::journal::{Event, InterventionChange};
use logosphere_core::pool::MessageId;
use logosphere_core::verify::state::RunState;
use logosphere_core::{MindId, RequestTemplate, Settings};
use serde_json::Value;

use crate::commands::resume;
use crate::error::Error;
use crate::flags::ChangeableFlags;
use crate::population::ClientContext;
use crate::setup;

/// The changes of a run from outside.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ChangeFlags {
    /// Put in the messages of a file, which has the form of an init.md; again for further ones.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub inject: Vec<PathBuf>,
    /// Append the signature of the seed messages to those that are put in.
    #[arg(long, hide_short_help = true)]
    pub stamp: bool,
    /// Take out a message, which can then be read no longer; again for further ones.
    #[arg(long, value_name = "ID", hide_short_help = true)]
    pub ablate: Vec<u64>,
    /// Let another mind play a position: a scripted mind offline, else a model; again for further ones.
    #[arg(long, value_name = "POSITION=MIND", value_parser = swap, hide_short_help = true)]
    pub swap_mind: Vec<(u32, String)>,
}

impl ChangeFlags {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.inject.is_empty() && self.ablate.is_empty() && self.swap_mind.is_empty()
    }
}

fn swap(text: &str) -> Result<(u32, String), String> {
    let parts = text.split_once('=').and_then(|(position, mind)| {
        let mind = Some(mind.trim()).filter(|mind| !mind.is_empty())?;
        Some((position.trim().parse().ok()?, mind.to_owned()))
    });
    parts.ok_or_else(|| "expected a position from 0 and a mind, such as 2=copier".to_owned())
}

/// Parses a setting and its value, which is JSON or a text.
pub fn setting(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or("expected a setting and a value, such as k_samples=5")?;
    let root = key.split('.').next().unwrap_or_default();
    if !Settings::SETTABLE.contains(&root) {
        let known = Settings::SETTABLE.join(", ");
        return Err(format!("a fork can change {known}"));
    }
    let json = serde_json::from_str(value);
    Ok((key.to_owned(), json.unwrap_or_else(|_| value.into())))
}

/// The run that is changed, and the parts that its minds are opened with.
pub struct ChangedRun<'a> {
    state: RunState,
    /// The journal, for messages.
    journal: &'a Path,
    flags: &'a ChangeableFlags,
    context: &'a ClientContext,
    changes: Vec<InterventionChange>,
}

impl<'a> ChangedRun<'a> {
    pub fn new(
        state: &RunState,
        journal: &'a Path,
        flags: &'a ChangeableFlags,
        context: &'a ClientContext,
    ) -> Self {
        Self {
            state: state.clone(),
            journal,
            flags,
            context,
            changes: Vec::new(),
        }
    }

    /// Makes the changes of the flags: messages are taken out, then put in, then minds and settings change. Returns them with
    /// the settings after them.
    pub fn make(
        mut self,
        flags: &ChangeFlags,
        set: &[(String, Value)],
        session: &Session,
    ) -> Result<(Vec<InterventionChange>, Settings), Failure> {
        if !flags.ablate.is_empty() {
            let ids = flags.ablate.iter().copied().map(MessageId).collect();
            self.add(InterventionChange::Ablate { ids })?;
        }
        for path in &flags.inject {
            let texts = self.messages(path, flags.stamp)?;
            self.add(InterventionChange::Inject {
                texts,
                added_ids: Vec::new(),
            })?;
        }
        for (position, mind) in &flags.swap_mind {
            self.swap(MindId(*position), mind, session)?;
        }
        for (setting, value) in set {
            self.set(setting, value, session)?;
        }
        Ok((self.changes, self.state.settings().clone()))
    }

    /// Reads the messages of a file.
    fn messages(&self, path: &Path, stamp: bool) -> Result<Vec<String>, Failure> {
        let settings = self.state.settings();
        let bytes = setup::read(path)?;
        let read = parse_init(&bytes, settings.parse_mode, &settings.init_signature);
        let init = read.map_err(|source| {
            let path = path.to_owned();
            Failure::usage(Error::Init { path, source })
        })?;
        Ok(init.stored(stamp).collect())
    }

    fn swap(&mut self, position: MindId, mind: &str, session: &Session) -> Result<(), Failure> {
        let new = if self.state.settings().is_offline() {
            MindEntry::Scripted(mind.to_owned())
        } else {
            MindEntry::Model(ModelEntry::new(mind))
        };
        let change = |request_template| InterventionChange::SwapMind {
            mind_id: position,
            old: new.clone(),
            new: new.clone(),
            request_template,
        };
        let before = change(self.state.template_of(MindId::default()).clone());
        let template = self.template(&before, session)?;
        let settings = self.state.settings_after(&before).map_err(Failure::usage)?;
        let template = template.of_entry(settings.entry_of(position.0)).clone();
        self.add(change(template.alone()))
    }

    fn set(&mut self, setting: &str, value: &Value, session: &Session) -> Result<(), Failure> {
        let change = |request_template| InterventionChange::Set {
            setting: setting.to_owned(),
            old: Value::Null,
            new: value.clone(),
            request_template,
        };
        let is_sent = !RunState::UNSENT.contains(&setting);
        let template = is_sent.then(|| self.template(&change(None), session));
        let template = template.transpose()?;
        self.add(change(template))
    }

    /// Returns the constant parts of the requests after a change.
    fn template(
        &self,
        change: &InterventionChange,
        session: &Session,
    ) -> Result<RequestTemplate, Failure> {
        let settings = self.state.settings_after(change).map_err(Failure::usage)?;
        settings.validate().map_err(Failure::usage)?;
        let notices = &mut Vec::new();
        let population = resume::population(
            &settings,
            self.journal,
            self.flags,
            self.context,
            session,
            notices,
        )?;
        let (mind, dialect) = population.mind(&settings)?;
        RequestTemplate::of(&mind, &settings, &dialect).map_err(Failure::usage)
    }

    fn add(&mut self, change: InterventionChange) -> Result<(), Failure> {
        let event = self.state.intervention(change);
        self.changes.push(event.change.clone());
        let applied = self.state.apply(&Event::Intervention(Box::new(event)));
        applied.map_err(Failure::usage)?;
        self.state.settings().validate().map_err(Failure::usage)
    }
}
