//! Identifiers, dates, numbers and names: sets of canonical forms.

use std::collections::HashSet;

use super::Finding;
use crate::atom::{Atom, Atoms, Kind};
use crate::lists;

/// Compares the items of a kind, each canonical form once, and returns the number of forms in the original. In texts that are
/// too long no other spelling of an item is looked for.
pub(super) fn compare(
    kind: Kind,
    (original, decoded): (&Atoms, &Atoms),
    is_truncated: bool,
    findings: &mut Vec<Finding>,
) -> usize {
    let (ours, theirs) = (Side::new(original), Side::new(decoded));
    let before = distinct(original, kind);
    let after = distinct(decoded, kind);
    let total = before.len();
    let has = |side: &Side<'_>, atom: &Atom| {
        let item = (atom.kind, &*atom.canonical);
        side.items.contains(&item) || !is_truncated && side.has(item)
    };
    let lost: Vec<_> = before
        .into_iter()
        .filter(|atom| !has(&theirs, atom))
        .collect();
    let mut invented: Vec<_> = after
        .into_iter()
        .filter(|atom| !is_one(atom) && !has(&ours, atom))
        .collect();
    for atom in lost {
        // The same number with another unit.
        let is_other =
            |other: &&Atom| atom.value == other.value && has_unit(atom) && has_unit(other);
        let is_measured = !is_truncated && atom.value.is_some();
        let other = is_measured
            .then(|| invented.iter().position(is_other))
            .flatten();
        let changed = other.map(|place| invented.remove(place));
        if changed.is_none() && is_one(atom) {
            continue;
        }
        findings.push(Finding::new(kind, Some(atom), changed));
    }
    findings.extend(
        invented
            .into_iter()
            .map(|atom| Finding::new(kind, None, Some(atom))),
    );
    total
}

fn distinct(atoms: &Atoms, kind: Kind) -> Vec<&Atom> {
    let mut seen = HashSet::new();
    let of = atoms.of(kind).map(|(_, atom)| atom);
    of.filter(|atom| seen.insert(&*atom.canonical)).collect()
}

/// Whether this is *one*, which an article may say as well.
pub(super) fn is_one(atom: &Atom) -> bool {
    atom.kind == Kind::Number && atom.canonical == "1"
}

fn has_unit(atom: &Atom) -> bool {
    atom.canonical.contains(' ')
}

/// The items and words of a text, to look them up.
pub(super) struct Side<'a> {
    atoms: &'a Atoms,
    pub(super) items: HashSet<(Kind, &'a str)>,
    bases: HashSet<&'a str>,
    /// Dates without their year, and times without the half of the day.
    loose: HashSet<String>,
}

impl<'a> Side<'a> {
    pub(super) fn new(atoms: &'a Atoms) -> Self {
        let items = atoms.all.iter().filter(|atom| atom.kind.is_item());
        let items: HashSet<_> = items.map(|atom| (atom.kind, &*atom.canonical)).collect();
        let loose = atoms
            .of(Kind::Date)
            .filter_map(|(_, atom)| loose(&atom.canonical));
        Self {
            items,
            bases: atoms.words.iter().map(|word| lists::base(word)).collect(),
            loose: loose.collect(),
            atoms,
        }
    }

    /// Whether the text has an item in another form.
    pub(super) fn has(&self, (kind, canonical): (Kind, &str)) -> bool {
        match kind {
            Kind::Identifier => is_verbatim(&self.atoms.text, canonical) || self.spells(canonical),
            Kind::Name => self.bases.contains(lists::base(canonical)),
            Kind::Date => self.has_date(canonical),
            Kind::Number => self.has_number(canonical),
            _ => false,
        }
    }

    fn has_date(&self, canonical: &str) -> bool {
        if let Some(year) = canonical.strip_suffix("-??-??") {
            return self.items.contains(&(Kind::Number, year))
                || self
                    .items
                    .iter()
                    .any(|(kind, other)| *kind == Kind::Date && other.starts_with(year));
        }
        let Some(loose_form) = loose(canonical) else {
            return false;
        };
        let is_open = canonical.starts_with(['?', '~']);
        if is_open {
            return self.loose.contains(&loose_form);
        }
        let mark = if canonical.contains(':') { "~" } else { "????" };
        let open = format!("{mark}{loose_form}");
        self.items.contains(&(Kind::Date, &*open))
    }

    fn has_number(&self, canonical: &str) -> bool {
        if self
            .atoms
            .implied
            .iter()
            .any(|implied| implied == canonical)
        {
            return true;
        }
        if let Some(unit) = canonical.strip_prefix("per ") {
            return self.atoms.implied.iter().any(|implied| implied == unit);
        }
        if let Some(value) = canonical.strip_suffix(" times") {
            // `three times` and `3` of a thing.
            return self.items.contains(&(Kind::Number, value));
        }
        let other = canonical
            .strip_suffix("th")
            .map_or_else(|| format!("{canonical}th"), str::to_owned);
        if self.items.contains(&(Kind::Number, &*other)) {
            return true;
        }
        match canonical {
            "2" => ["both", "pair", "couple", "either", "double"]
                .iter()
                .any(|word| self.atoms.words.contains(*word)),
            "12" if self.atoms.words.contains("dozen") => true,
            _ => {
                let year = format!("{canonical}-??-??");
                let degrees = ["temperature", "fahrenheit"]
                    .iter()
                    .filter_map(|unit| {
                        Some(format!(
                            "{} degree",
                            canonical.strip_suffix(unit)?.trim_end()
                        ))
                    })
                    .any(|degrees| self.items.contains(&(Kind::Number, &*degrees)));
                let exact = canonical.strip_suffix(" degree").is_some_and(|value| {
                    ["temperature", "fahrenheit"].iter().any(|unit| {
                        self.items
                            .contains(&(Kind::Number, &*format!("{value} {unit}")))
                    })
                });
                let times = format!("{canonical} times");
                degrees
                    || exact
                    || self.items.contains(&(Kind::Date, &*year))
                    || self.items.contains(&(Kind::Number, &*times))
            }
        }
    }

    /// Whether consecutive words begin with these capitals.
    fn spells(&self, capitals: &str) -> bool {
        if capitals.len() < 2 || !capitals.chars().all(|char| char.is_ascii_uppercase()) {
            return false;
        }
        let lower = capitals.to_lowercase();
        self.atoms.clauses.iter().any(|clause| {
            let initials: String = clause
                .words
                .iter()
                .filter_map(|word| word.chars().next())
                .collect();
            initials.contains(&lower)
        })
    }
}

/// A date without its year, or a time without the half of the day.
fn loose(canonical: &str) -> Option<String> {
    let time = canonical.strip_prefix('~').unwrap_or(canonical);
    if let Some((hour, minute)) = time.split_once(':') {
        let hour: u8 = hour.parse().ok()?;
        return Some(format!("{:02}:{minute}", hour % 12));
    }
    let rest = canonical
        .get(4..)
        .filter(|rest| rest.starts_with('-') && *rest != "-??-??")?;
    Some(rest.to_owned())
}

/// The characters between the digits of one number, date or time.
const JOINS: [char; 6] = ['.', ',', ':', '/', '-', '\''];
/// The ones of them that also begin a number.
const SIGNS: [char; 2] = ['-', '.'];

/// Whether a text has these words with no letter or digit at their ends. A number that is a part of another one, as 25 is of
/// 0.25, -25, 25:00 and A-25, is not there.
pub(super) fn is_verbatim(text: &str, words: &str) -> bool {
    let is_digit = |char: char| char.is_ascii_digit();
    text.match_indices(words).any(|(start, found)| {
        let is_part = |char: char| char.is_alphanumeric();
        let (before, after) = (&text[..start], &text[start + found.len()..]);
        let continues = words.starts_with(is_digit)
            && before
                .strip_suffix(JOINS)
                .is_some_and(|rest| rest.ends_with(is_part) || before.ends_with(SIGNS));
        let goes_further = words.ends_with(is_digit)
            && after
                .strip_prefix(JOINS)
                .is_some_and(|rest| rest.starts_with(is_digit));
        !(before.ends_with(is_part) || after.starts_with(is_part) || continues || goes_further)
    })
}
