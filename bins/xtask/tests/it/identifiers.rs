//! Names of types and functions: one meaning for each name, and the names of the field.

use std::collections::{BTreeMap, BTreeSet};

use crate::definitions::{Definition, Kind, definitions};
use crate::rust_source::{Source, folders, package, sources};

/// Names that were exchanged for those of the field, by package. No definition in its `src` has them again: no item, field,
/// variant, parameter or module.
const RENAMED: &[(&str, &str)] = &[
    (
        "popper-harness",
        "Bench Content Draft Draw Exhaustion Family Findings Lab Lanes Least Meaning Moment Outcome Package Place Plan Question Reason Run Section Setting Span Starts Tally Trial Watch Work World boxed evaluate_until meaning",
    ),
    (
        "popper-discovery",
        "Call Changes Column Complaint Contract Decision Disguise Draft Ended Evidence Fault Finding Form List Names Next Patterns Phrase Piece Plan Reach Reading Report Rows Run Said Sentence Sieve Sought Space Speaker Specimen Stated Still Tally Turn Usage Walk Which admit beyond settle_known take_over",
    ),
    ("popper-store", "Content Object Place Work"),
    (
        "popper",
        "Evidence Hint Report Run Standing Watch Work sheet spare",
    ),
    (
        "llm-client",
        "Asked Asking Call Caps Draft Fault Fitted Flight Found Gate Heard Lane Ledger Live Mode Nowhere Outgoing Pass Piece Place Said Structure Tail Tape Trail Voice Watchdog Wish Worst clean_exact dearest dearest_price expose fit fly heard hold next_occurrence question",
    ),
    (
        "logosphere-core",
        "Amounts Answers BESIDES Book Control Damage Facts Forecast Impersonation Keep KeepSetting Made Messages Minded MsgId Place Places Planned Rest Resumption Returned Side Spooled State Tail Tally Thing Watched go_on innovation_share pair_identity provide_init set_torn_aside stamp told",
    ),
    (
        "logosphere",
        "Asked InitCheck Leak Null Ready Recorded Shown Told drive reckon",
    ),
    (
        "zer0gravity-engine",
        "Answer CallTotals Done Encoding EncodingCost EncodingStatistics Event Evidence Failure Inside Judgement LlmPort Material ModelPort Panel Piece PortError PortLabel Question Report ReportedEncoding Run Seed Stop StoredPort Tally Told Triple Verdict goes_on_without known_wrapper_tokens measure_wrapper parse_triples settle spare wrapper_tokens wrapper_tokens_source",
    ),
    ("zer0gravity", "Asked Asking"),
    (
        "pscale-blocks",
        "Choice Depth Fault Found Kept Ledger Live Outcome Page Parcel Parceled Place Printed Provenance Speaker State Step Whole take_back view_all",
    ),
    (
        "hermitcrab-kernel",
        "Call Caller FaceNext Facts Fault Form Inner Keeper Kept Keyless Next OpenRoot Piece Place Results Said Sane Sheet Sight Taken ToolOutcome Which face_died glance hear is_ask keep_beside maybe meter_lost outside own",
    ),
    (
        "hermitcrab-face",
        "Arrived Asked Call Death Desk Fault Gate Hub MOST NOES PATIENCE Place Question SETTLE Shown Trial arrive because bury deep is_held_up placeless sees tell told",
    ),
    (
        "hermitcrab",
        "After Asking Blocks Deed Entry Found Kept Need Nobody Now Outgoing Plain Remark Seen Stepped Turned deed give grew look still taken tell",
    ),
    (
        "bin-support",
        "ask_nobody begin_beside notice printable say sends_bills spare",
    ),
    ("report-kit", "Tone"),
    ("test-support", "Ask Canned Hold asks"),
    ("xtask", "Standing WORLDS World"),
];

/// Modules that got other names, by package.
const RENAMED_MODULES: &[(&str, &str)] = &[
    ("hermitcrab", "look opened"),
    ("hermitcrab-face", "deep desk fault gate hub place"),
    (
        "hermitcrab-kernel",
        "asks deaths keeper kept keyless own outside said sane sheet sight",
    ),
    ("llm-client", "fault fit gate live pipeline tape"),
    ("logosphere-core", "forecast replay spool stamp"),
    ("popper", "evidence hint sheet standing watch"),
    ("popper-discovery", "disguise intake phrase walk clock"),
    ("popper-harness", "lab work span lanes"),
    ("popper-store", "fault"),
    ("report-kit", "tone"),
    ("test-support", "hold"),
    ("zer0gravity", "ask"),
    ("zer0gravity-engine", "matrix port procedure"),
];

/// Old names of types that a variant may have: it is read with its enum, as in `Command::Run`.
const VARIANTS: &str =
    "Call Column Impersonation InitCheck Keep Leak Messages Null Report Run State";

/// Old names of functions that a field or a binding may have: there they are nouns.
const NOUNS: &str = "fit notice own stamp";

/// Participles, question words, adjectives and images: none of them is the name of a type.
const IMAGES: &str =
    "Asked Desk Flight Keyless Lab Live Sane Said Shown Sieve Taken Tape Told Which Whole";

/// Words that no name has.
const WORDS: &str =
    "anew anybody beside dearest mend mends nobody reckon reckons somebody stranger whoever";

/// General words that only these packages may give to a type.
const RESERVED: &[(&str, &[&str])] = &[
    ("Call", &[]),
    ("Clock", &["llm-types"]),
    ("Draft", &[]),
    ("Evidence", &["popper-harness"]),
    ("Fault", &[]),
    ("Place", &[]),
    ("Report", &[]),
    ("Run", &[]),
    ("State", &["popper-harness"]),
];

/// The names in `list` that are those of a package.
fn of_package<'a>(list: &[(&str, &'a str)], package: &str) -> Vec<&'a str> {
    let names = list.iter().find(|(name, _)| *name == package);
    names.map_or("", |(_, names)| names).split(' ').collect()
}

/// The words of a name in lower case: those of `RequestGuard` and `request_guard` are `request` and `guard`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        if c == '_' || c.is_uppercase() && before.is_lowercase() {
            words.push(String::new());
        }
        let last = words.last_mut().unwrap();
        last.extend(c.to_lowercase().filter(|c| *c != '_'));
        before = c;
    }
    words
}

/// The fault of a name, whatever else its package defines.
fn fault(package: &str, name: &str, kind: Kind) -> Option<&'static str> {
    let is_in = |list: &str, name: &str| list.split(' ').any(|it| it == name);
    let is_type = [Kind::Type, Kind::Generic].contains(&kind);
    let reserved = RESERVED.iter().find(|(word, _)| *word == name);
    let is_part = kind == Kind::Variant && is_in(VARIANTS, name)
        || [Kind::Field, Kind::Binding].contains(&kind) && is_in(NOUNS, name);
    if is_type && reserved.is_some_and(|(_, packages)| !packages.contains(&package)) {
        Some("says too little")
    } else if is_type && is_in(IMAGES, name) {
        Some("is no noun of the field")
    } else if words(name).iter().any(|word| is_in(WORDS, word)) {
        Some("has a word that is refused")
    } else if of_package(RENAMED, package).contains(&name) && !is_part
        || kind == Kind::Module && of_package(RENAMED_MODULES, package).contains(&name)
    {
        Some("is an old name")
    } else {
        None
    }
}

/// The faults of a package that defines these names.
fn faults(package: &str, definitions: &[Definition]) -> BTreeSet<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut faults = BTreeSet::new();
    for Definition { name, kind, .. } in definitions {
        if *kind == Kind::Type {
            *counts.entry(name).or_default() += 1;
        }
        let fault = fault(package, name, *kind);
        faults.extend(fault.map(|fault| format!("{package}: {kind:?} {name} {fault}")));
    }
    let twice = counts.iter().filter(|(_, count)| **count > 1);
    faults.extend(twice.map(|(name, count)| format!("{package}: {count} types {name}")));
    faults
}

#[test]
fn names_that_do_not_fit_are_found_in_every_place() {
    let found = |code: &str| faults("popper-harness", &definitions(&Source::sample("", code)));
    for (code, fault) in [
        ("struct Bench;", "Type Bench is an old name"),
        ("type Bench = u8;", "Type Bench is an old name"),
        ("mod a { trait Place {} }", "Type Place says too little"),
        (
            "impl A { fn meaning() {} }",
            "Function meaning is an old name",
        ),
        (
            "trait A { fn meaning(); }",
            "Function meaning is an old name",
        ),
        ("trait A { type Bench; }", "Generic Bench is an old name"),
        ("fn f<Bench>() {}", "Generic Bench is an old name"),
        ("enum A { Bench }", "Variant Bench is an old name"),
        ("struct A { meaning: u8 }", "Field meaning is an old name"),
        ("fn f(meaning: u8) {}", "Binding meaning is an old name"),
        (
            "fn f() { let g = |meaning| 1; }",
            "Binding meaning is an old name",
        ),
        ("mod span;", "Module span is an old name"),
        ("mod meaning {}", "Module meaning is an old name"),
        (
            "const WHOEVER_ASKS: u8 = 1;",
            "Constant WHOEVER_ASKS has a word that is refused",
        ),
        (
            "static NOBODY: u8 = 1;",
            "Constant NOBODY has a word that is refused",
        ),
        (
            "fn f<const NOBODY: u8>() {}",
            "Constant NOBODY has a word that is refused",
        ),
        (
            "enum AskNobody {}",
            "Type AskNobody has a word that is refused",
        ),
        ("struct Said;", "Type Said is no noun of the field"),
        (
            "macro_rules! m { () => { struct Bench; } }",
            "Generic Bench is an old name",
        ),
        ("m! { fn meaning() {} }", "Function meaning is an old name"),
        ("struct Two; mod b { enum Two {} }", "2 types Two"),
    ] {
        let expected = BTreeSet::from([format!("popper-harness: {fault}")]);
        assert_eq!(found(code), expected, "{code}");
    }
    let clean =
        "enum Command { Run } type Two = u8; #[cfg(test)] mod tests { struct Lab; struct Two; }";
    assert_eq!(found(clean), BTreeSet::new());
}

#[test]
fn names_are_those_of_the_field_and_have_one_meaning() {
    let mut wrong = Vec::new();
    for folder in folders() {
        let found = sources(&folder)
            .iter()
            .flat_map(definitions)
            .collect::<Vec<_>>();
        assert!(found.len() >= 5, "{folder}");
        wrong.extend(faults(package(&folder), &found));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
