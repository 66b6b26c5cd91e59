//! The kinds of minds in a run with several.

use serde::{Deserialize, Serialize};

use super::settings::{ModelSettings, Options, Settings};

/// The minds of a run by position: position i is played by entry i modulo the length of the list.
pub type MindList = Vec<MindEntry>;

/// A kind of mind in a run with several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(clippy::exhaustive_enums, reason = "a mind is scripted or a model")]
pub enum MindEntry {
    /// A scripted mind, such as `mutator:p=0.1`.
    Scripted(String),
    /// A model.
    Model(ModelEntry),
}

/// A model in a run with several kinds of minds.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelEntry {
    /// The provider; `None` for that of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's id at its provider.
    pub model: String,
    /// The server's address; `None` for that of the run, or for the default of another provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_base_url: Option<String>,
    /// The options; `None` for those of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Options>,
}

impl ModelEntry {
    /// Returns this model of the provider of the run, with the options of the run.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            ..Self::default()
        }
    }
}

impl MindEntry {
    /// Returns the scripted mind, or the model's id.
    pub fn name(&self) -> &str {
        match self {
            Self::Scripted(name) => name,
            Self::Model(entry) => &entry.model,
        }
    }

    /// Whether the mind is scripted.
    pub fn is_scripted(&self) -> bool {
        matches!(self, Self::Scripted(_))
    }
}

impl Settings {
    /// Returns the index of the entry of `minds` that plays the mind at this position; 0 in a run with one kind.
    pub fn entry_of(&self, position: u32) -> usize {
        let entries = self.minds.as_ref().map_or(1, Vec::len);
        position as usize % entries.max(1)
    }

    /// Returns the part of the requests of each entry of `minds` that the prompt does not change; that of all minds in a
    /// run with one kind.
    pub fn entries(&self) -> Vec<ModelSettings> {
        let common = self.model_settings();
        // The list of an altered journal may be empty.
        let Some(minds) = self.minds.as_ref().filter(|minds| !minds.is_empty()) else {
            return vec![common];
        };
        let of_entry = |(entry, mind): (usize, &MindEntry)| {
            let options = match mind {
                MindEntry::Scripted(_) => None,
                MindEntry::Model(model) => model.options.clone(),
            };
            ModelSettings {
                model: mind.name().to_owned(),
                options: options.unwrap_or_else(|| common.options.clone()),
                entry,
                ..common.clone()
            }
        };
        minds.iter().enumerate().map(of_entry).collect()
    }

    /// Returns the mind of all positions in a run with one kind, as an entry of `minds`.
    pub(crate) fn common_entry(&self) -> MindEntry {
        match &self.mind {
            Some(mind) if self.is_offline() => MindEntry::Scripted(mind.clone()),
            _ if self.is_offline() => MindEntry::Scripted(self.model.clone()),
            _ => MindEntry::Model(ModelEntry::new(&self.model)),
        }
    }

    /// Returns the scripted mind or the model of each entry of `minds`; that of all minds in a run with one kind.
    pub fn mind_names(&self) -> Vec<&str> {
        match (&self.minds, &self.mind) {
            (Some(minds), _) => minds.iter().map(MindEntry::name).collect(),
            (None, Some(mind)) if self.is_offline() => vec![mind],
            (None, _) => vec![&self.model],
        }
    }
}
