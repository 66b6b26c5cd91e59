//! Differences between two runs other than their encoding systems.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{RunReport, settings};
use crate::ExperimentResult;
use crate::plan::{Config, Plan};

/// The key of an experiment: encoding system, case, trial and decoding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ItemName {
    /// The id of the encoding system.
    pub encoding_id: String,
    /// The id of the case.
    pub test_case_id: String,
    /// The number of this encoding of the text, from 1.
    pub trial: u32,
    /// The number of this decoding of the encoded text, from 1.
    pub decode: u32,
}

/// A difference between two runs other than their encoding systems.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Changes {
    /// The paths of different settings in the configuration, such as `config.models.judges.0`. If one run has no configuration, the
    /// settings come from the results, such as `metadata.models.judges: a -> b`; mixed values are listed in braces.
    pub settings: Vec<String>,
    /// The ids of encoding systems with different rules.
    pub rules: Vec<String>,
    /// The ids of cases with different texts, which are not compared.
    pub texts: Vec<String>,
    /// The versions of this crate, old and new, if they differ.
    pub engine_versions: Option<[String; 2]>,
    /// The judges of both runs, old and new, if they differ in model or prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judges: Option<[String; 2]>,
    /// The experiments of either run that are scored of 95 points because no rules were given. They are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<ItemName>,
}

impl ItemName {
    pub(super) fn of(item: &ExperimentResult) -> Self {
        Self {
            encoding_id: item.encoding_id.clone(),
            test_case_id: item.test_case_id.clone(),
            trial: item.trial,
            decode: item.decode,
        }
    }
}

impl Changes {
    pub(super) fn of(old: &RunReport, new: &RunReport) -> Self {
        let settings = match (&old.config, &new.config) {
            (Some(old), Some(new)) => plan(old).differences(&plan(new)),
            _ => settings::differences(&old.results, &new.results),
        };
        let partial = old.results.iter().chain(&new.results);
        let partial = partial.filter(|result| result.partial_total.is_some());
        let rules: BTreeMap<_, _> = (old.encodings.iter())
            .map(|encoding| (&encoding.id, &encoding.sha256))
            .collect();
        let texts: BTreeMap<_, _> = (old.cases.iter())
            .map(|case| (&case.case.id, &case.case.text))
            .collect();
        let versions = [&old.engine_version, &new.engine_version].map(String::clone);
        Self {
            settings,
            rules: (new.encodings.iter())
                .filter(|e| rules.get(&e.id).is_some_and(|sha256| **sha256 != e.sha256))
                .map(|encoding| encoding.id.clone())
                .collect(),
            texts: (new.cases.iter())
                .filter(|c| {
                    texts
                        .get(&c.case.id)
                        .is_some_and(|text| **text != c.case.text)
                })
                .map(|case| case.case.id.clone())
                .collect(),
            engine_versions: (versions[0] != versions[1]).then_some(versions),
            judges: settings::judges(&old.results, &new.results),
            partial: partial
                .map(ItemName::of)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
        }
    }
}

/// Returns a plan with a configuration and nothing else.
fn plan(config: &Config) -> Plan {
    Plan {
        encodings: Vec::new(),
        cases: Vec::new(),
        config: config.clone(),
    }
}
