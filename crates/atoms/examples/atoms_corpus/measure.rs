//! Measures planted corruptions that are found, and false alarms of faithful paraphrases.

use std::collections::BTreeMap;

use atoms::{Atom, Comparison, Finding, Lexicon, atoms, compare};
use serde::Deserialize;

/// Texts, each with corruptions of one place and with paraphrases that keep its meaning.
#[derive(Deserialize)]
pub struct Corpus {
    texts: Vec<Text>,
    corruptions: Vec<Corruption>,
    paraphrases: Vec<Paraphrase>,
}

#[derive(Deserialize)]
struct Text {
    id: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Corruption {
    id: String,
    text_id: String,
    kind: String,
    decoded: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paraphrase {
    id: String,
    text_id: String,
    /// Whether whole sentences were recast.
    #[serde(default)]
    free: bool,
    decoded: String,
}

/// Cases with a critical finding, of all cases.
#[derive(Debug, Default, Clone, Copy)]
pub struct Count {
    pub found: usize,
    pub all: usize,
}

impl Count {
    fn add(&mut self, is_found: bool) {
        self.found += usize::from(is_found);
        self.all += 1;
    }

    /// At least this many in a hundred.
    pub fn is_at_least(self, percent: usize) -> bool {
        self.found * 100 >= self.all * percent
    }

    /// At most this many in a hundred.
    pub fn is_at_most(self, percent: usize) -> bool {
        self.found * 100 <= self.all * percent
    }
}

#[derive(Debug, Default)]
pub struct Measured {
    /// Corruptions by kind.
    pub kinds: BTreeMap<String, Count>,
    pub corruptions: Count,
    /// Paraphrases in which a phrase or two are other ones.
    pub composed: Count,
    pub free: Count,
    pub paraphrases: Count,
    /// A line for each case that went wrong.
    pub wrong: Vec<String>,
}

impl Corpus {
    /// Compares each decoded text with its original.
    ///
    /// # Errors
    /// A text that a case names and that is not there.
    pub fn measure(&self, lexicon: &dyn Lexicon) -> Result<Measured, String> {
        let texts: BTreeMap<_, _> = self
            .texts
            .iter()
            .map(|text| (&*text.id, &*text.text))
            .collect();
        let compared = |id: &str, decoded: &str| -> Result<Comparison, String> {
            let original = texts.get(id).ok_or_else(|| format!("no text {id}"))?;
            Ok(compare(&atoms(original, lexicon), &atoms(decoded, lexicon)))
        };
        let mut measured = Measured::default();
        for case in &self.corruptions {
            let comparison = compared(&case.text_id, &case.decoded)?;
            let is_found = comparison.findings().iter().any(|finding| finding.critical);
            measured.corruptions.add(is_found);
            measured
                .kinds
                .entry(case.kind.clone())
                .or_default()
                .add(is_found);
            if !is_found {
                measured
                    .wrong
                    .push(format!("missed {}: {}", case.id, said(&comparison)));
            }
        }
        for case in &self.paraphrases {
            let comparison = compared(&case.text_id, &case.decoded)?;
            let is_alarm = comparison.findings().iter().any(|finding| finding.critical);
            let part = if case.free {
                &mut measured.free
            } else {
                &mut measured.composed
            };
            part.add(is_alarm);
            measured.paraphrases.add(is_alarm);
            if is_alarm {
                measured
                    .wrong
                    .push(format!("false alarm {}: {}", case.id, said(&comparison)));
            }
        }
        Ok(measured)
    }
}

fn said(comparison: &Comparison) -> String {
    let form = |atom: &Option<Atom>| {
        atom.as_ref()
            .map_or_else(String::new, |atom| atom.canonical.clone())
    };
    let said = |finding: &Finding| {
        let mark = if finding.critical { "!" } else { "" };
        let (kind, change) = (finding.kind.name(), finding.change.name());
        format!(
            "{mark}{kind} {change} {:?} {:?}",
            form(&finding.original),
            form(&finding.decoded)
        )
    };
    comparison
        .findings()
        .iter()
        .map(said)
        .collect::<Vec<_>>()
        .join(", ")
}
