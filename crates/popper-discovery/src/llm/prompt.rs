//! The prompt of a turn: the constant part, and the snapshot.

use std::fmt::Write as _;

use llm_client::{Block, CacheMark, Message, Request, Role};
use serde_json::Value;

use super::prompts;
use super::sentence::{LawText, NameTranslator};
use super::symbol_mask::SymbolMask;
use crate::error::ProposeError;
use crate::snapshot::{Accepted, FailureExample, Falsified, Snapshot, Undecided};

/// The text of a list without entries.
const NOTHING: &str = "(none)";

/// The parts of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    /// The constant part, equal in every turn of a run.
    pub system: String,
    /// The snapshot as text.
    pub snapshot: String,
    /// The model's own notes. They are quoted back and not scanned, since the model may guess anything.
    pub log: String,
    /// The request for laws.
    pub request: String,
}

impl Prompt {
    /// Returns the prompt for `k` laws: a pure function of its arguments.
    pub fn new(snapshot: &Snapshot, k: usize, mask: &SymbolMask) -> Self {
        let translator = NameTranslator {
            mask,
            contract: &snapshot.contract,
        };
        Self {
            system: system(snapshot, &translator),
            snapshot: body(snapshot, &translator),
            log: snapshot
                .research_log
                .clone()
                .unwrap_or_else(|| NOTHING.to_owned()),
            request: prompts::REQUEST.fill(&[("k", &k.to_string())]),
        }
    }

    /// Refuses a prompt that reveals the universe.
    ///
    /// # Errors
    /// [`ProposeError::Leak`] with the first word or state that reveals it.
    pub fn check(&self, schema: &Value, mask: &SymbolMask) -> Result<(), ProposeError> {
        let schema = schema.to_string();
        [&self.system, &self.snapshot, &self.request, &schema]
            .into_iter()
            .find_map(|text| mask.leaks(text))
            .map_or(Ok(()), |word| Err(ProposeError::Leak { word }))
    }

    /// Returns the request, without the schema of the reply.
    pub fn request(&self, model: &str) -> Request {
        let user = [&self.snapshot, &self.log, &self.request];
        Request::default()
            .model(model.to_owned())
            // Equal in all turns of a run, so that a server may keep it.
            .system(vec![Block::text(&self.system).cached(CacheMark::Default)])
            .messages(vec![Message::new(Role::User, user.map(Block::text).into())])
    }
}

fn system(snapshot: &Snapshot, translator: &NameTranslator<'_>) -> String {
    let (contract, capabilities) = (&snapshot.contract, &snapshot.capabilities);
    let mask = translator.mask;
    let listed = |symbols: &[char]| {
        let mut shown: Vec<char> = symbols.iter().map(|&symbol| mask.symbol(symbol)).collect();
        if !mask.is_open() {
            // Their own order says which one is the background.
            shown.sort_unstable();
        }
        shown
    };
    let quoted = |symbols: &[char]| {
        let quoted: Vec<String> = symbols.iter().map(|symbol| format!("'{symbol}'")).collect();
        quoted.join(" ")
    };
    let symbols = listed(&contract.symbols);
    let first = symbols.first().copied().unwrap_or('_');
    let second = symbols.get(1).copied().unwrap_or(first);
    let starts = if contract.initial_forbidden.is_empty() {
        "Every ring of these symbols may be a start s(0).".to_owned()
    } else {
        let forbidden = quoted(&listed(&contract.initial_forbidden));
        format!("A start s(0) may be any ring that does not hold {forbidden}; later states may.")
    };
    let templates: Vec<String> = capabilities
        .templates
        .iter()
        .map(|name| {
            prompts::TEMPLATES
                .line(name)
                .map_or_else(|| name.clone(), str::to_owned)
        })
        .map(|line| format!("- {line}"))
        .collect();
    let transforms = if contract.transforms.is_empty() {
        "the shifts".to_owned()
    } else {
        let mut names: Vec<String> = contract
            .transforms
            .iter()
            .map(|name| mask.transform(name))
            .collect();
        if !mask.is_open() {
            names.sort_unstable();
        }
        format!(
            "{} (each rearranges a state in its own way) and the shifts",
            names.join(", ")
        )
    };
    let mut families: Vec<String> = capabilities
        .families
        .iter()
        .map(|name| {
            let shown = mask.family(name);
            let line = prompts::FAMILIES
                .line(name)
                .and_then(|line| line.split_once(": "));
            line.map_or_else(|| shown.clone(), |(_, what)| format!("{shown} ({what})"))
        })
        .collect();
    if !mask.is_open() {
        families.sort_unstable();
    }
    let family = families
        .first()
        .map_or("", |family| family.split(' ').next().unwrap_or_default());
    let incoming = match (contract.has_incoming, mask.is_open()) {
        (false, _) => "",
        (true, false) => prompts::INCOMING_BLIND.text,
        (true, true) => prompts::INCOMING_OPEN.text,
    };
    let extension = if capabilities.extensions.is_empty() {
        ""
    } else {
        prompts::EXTENSION.text
    };
    prompts::SYSTEM.fill(&[
        ("symbols", &quoted(&symbols)),
        ("starts", &starts),
        ("templates", &templates.join("\n")),
        ("max_t", &capabilities.max_t.to_string()),
        ("a", &format!("'{first}'")),
        ("b", &format!("'{second}'")),
        ("ab", &format!("'{first}{second}{first}'")),
        ("incoming", incoming),
        ("transforms", &transforms),
        ("families", &families.join(", ")),
        ("family", family),
        ("extension", extension),
    ])
}

fn body(snapshot: &Snapshot, translator: &NameTranslator<'_>) -> String {
    let totals = &snapshot.totals;
    // What stands under its law already is not said twice.
    let is_new = |specimen: &&FailureExample| {
        let mut shown = snapshot.falsified.iter().map(|law| &law.counterexample);
        !shown.any(|shown| shown == *specimen)
    };
    let more: Vec<&FailureExample> = snapshot.gallery.iter().filter(is_new).collect();
    prompts::SNAPSHOT.fill(&[
        ("iteration", &snapshot.iteration.to_string()),
        ("pass", &totals.pass.to_string()),
        ("fail", &totals.fail.to_string()),
        ("unknown", &totals.unknown.to_string()),
        ("rejected", &totals.rejected.to_string()),
        ("waiting", &totals.waiting.to_string()),
        (
            "accepted",
            &list(&snapshot.accepted, |law| accepted(law, translator)),
        ),
        (
            "falsified",
            &list(&snapshot.falsified, |law| falsified(law, translator)),
        ),
        (
            "undecided",
            &list(&snapshot.unknown, |law| undecided(law, translator)),
        ),
        (
            "gallery",
            &list(&more, |specimen| gallery(specimen, translator)),
        ),
    ])
}

fn list<T>(items: &[T], line: impl Fn(&T) -> String) -> String {
    if items.is_empty() {
        return NOTHING.to_owned();
    }
    let lines: Vec<String> = items
        .iter()
        .map(|item| format!("- {}", line(item)))
        .collect();
    lines.join("\n")
}

fn accepted(law: &Accepted, translator: &NameTranslator<'_>) -> String {
    let strength = law
        .strength
        .and_then(|strength| serde_json::to_value(strength).ok());
    let strength = strength
        .as_ref()
        .and_then(Value::as_str)
        .unwrap_or("no evidence");
    format!(
        "{} [{strength}: {}]",
        translator.law(&law.law).text,
        law.scope
    )
}

fn undecided(law: &Undecided, translator: &NameTranslator<'_>) -> String {
    format!(
        "{} [{}; what would decide it: {}]",
        translator.law(&law.law).text,
        law.reason,
        law.needs
    )
}

fn falsified(law: &Falsified, translator: &NameTranslator<'_>) -> String {
    let sentence = translator.law(&law.law);
    let mut line = format!(
        "{}\n  {}",
        sentence.text,
        specimen(&law.counterexample, translator)
    );
    if let Some(values) = values(&law.counterexample, &sentence) {
        let _ = write!(line, "; {values}");
    }
    line
}

fn gallery(found: &FailureExample, translator: &NameTranslator<'_>) -> String {
    format!("{}: {}", found.template, specimen(found, translator))
}

/// The start, the step and the states of a refutation.
fn specimen(specimen: &FailureExample, translator: &NameTranslator<'_>) -> String {
    let mut line = format!(
        "start {} fails at t={}",
        translator.state(&specimen.initial_state),
        specimen.t_fail
    );
    for moment in &specimen.excerpt {
        let _ = write!(
            line,
            ", s({}) = {}",
            moment.t,
            translator.state(&moment.state)
        );
    }
    let witness = &specimen.witness;
    match specimen.template.as_str() {
        "symmetry_commutation" => {
            let sides = [&witness.left, &witness.right].map(|side| translator.state(side));
            let _ = write!(
                line,
                "; transformed first: {}, transformed last: {}",
                sides[0], sides[1]
            );
        }
        // The states show it.
        "local_transition" => {}
        _ => {
            let _ = write!(
                line,
                "; {} {} {} is false",
                witness.left, witness.op, witness.right
            );
        }
    }
    line
}

/// The values of the law's observables at the failing step and at the next one.
fn values(specimen: &FailureExample, sentence: &LawText) -> Option<String> {
    let witness = &specimen.witness;
    let values: Vec<String> = sentence
        .observables()
        .filter_map(|(name, expr)| {
            let (now, next) = (witness.now.get(expr)?, witness.next.get(expr)?);
            // A number, or why there is none.
            let said = |value: &Value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), |_| "no value".to_owned())
            };
            Some(format!("{name} was {} and then {}", said(now), said(next)))
        })
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}
