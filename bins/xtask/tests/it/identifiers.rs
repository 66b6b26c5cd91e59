//! Names of types and functions: one meaning for each name, and the names of the field.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};

use crate::modules::is_test;
use crate::single::sources;

/// Names that were exchanged for those of the field, by package. No definition in its `src` has them again.
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

/// The names that a file defines: types and traits, functions and constants.
#[derive(Default)]
struct Definitions {
    types: Vec<String>,
    others: Vec<String>,
}

impl<'ast> Visit<'ast> for Definitions {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (attributes, name, is_type) = match item {
            syn::Item::Struct(it) => (&it.attrs, &it.ident, true),
            syn::Item::Enum(it) => (&it.attrs, &it.ident, true),
            syn::Item::Trait(it) => (&it.attrs, &it.ident, true),
            syn::Item::Type(it) => (&it.attrs, &it.ident, true),
            syn::Item::Fn(it) => (&it.attrs, &it.sig.ident, false),
            syn::Item::Const(it) => (&it.attrs, &it.ident, false),
            syn::Item::Static(it) => (&it.attrs, &it.ident, false),
            syn::Item::Mod(it) => (&it.attrs, &it.ident, false),
            _ => return visit::visit_item(self, item),
        };
        if is_test(attributes) {
            return;
        }
        let names = if is_type {
            &mut self.types
        } else {
            &mut self.others
        };
        names.push(name.to_string());
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        self.others.push(it.sig.ident.to_string());
        visit::visit_impl_item_fn(self, it);
    }

    fn visit_trait_item_fn(&mut self, it: &'ast syn::TraitItemFn) {
        self.others.push(it.sig.ident.to_string());
        visit::visit_trait_item_fn(self, it);
    }
}

fn definitions(code: &str) -> Definitions {
    let mut found = Definitions::default();
    found.visit_file(&syn::parse_file(code).unwrap());
    found
}

/// The faults of a package whose files define these names.
fn faults(package: &str, files: &[Definitions]) -> BTreeSet<String> {
    let old = RENAMED.iter().find(|(name, _)| *name == package);
    let old: BTreeSet<_> = old.map_or("", |(_, names)| names).split(' ').collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut faults = BTreeSet::new();
    for file in files {
        for name in &file.types {
            *counts.entry(name).or_default() += 1;
            let reserved = RESERVED.iter().find(|(word, _)| word == name);
            if reserved.is_some_and(|(_, packages)| !packages.contains(&package)) {
                faults.insert(format!("{package}: type {name} says too little"));
            }
        }
        for name in file.types.iter().chain(&file.others) {
            if old.contains(name.as_str()) {
                faults.insert(format!("{package}: {name} is an old name"));
            }
        }
    }
    let twice = counts.iter().filter(|(_, count)| **count > 1);
    faults.extend(twice.map(|(name, count)| format!("{package}: {count} types {name}")));
    faults
}

#[test]
fn old_and_double_names_are_found() {
    let code = "struct Lab; mod a { enum Two {} impl Two { fn meaning() {} } } trait Place {}";
    let tests = "type Two = u8; #[cfg(test)] mod tests { struct Lab; struct Two; }";
    let found = faults("popper-harness", &[definitions(code), definitions(tests)]);
    let expected = [
        "popper-harness: 2 types Two",
        "popper-harness: Lab is an old name",
        "popper-harness: Place is an old name",
        "popper-harness: meaning is an old name",
        "popper-harness: type Place says too little",
    ];
    assert_eq!(found.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn names_are_those_of_the_field_and_have_one_meaning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut wrong = Vec::new();
    for group in ["bins", "crates"] {
        for entry in fs::read_dir(root.join(group)).unwrap() {
            let package = entry.unwrap().file_name().into_string().unwrap();
            let mut paths = Vec::new();
            sources(&root.join(group).join(&package).join("src"), &mut paths);
            let code = paths.iter().map(|path| fs::read_to_string(path).unwrap());
            let files: Vec<_> = code.map(|code| definitions(&code)).collect();
            wrong.extend(faults(&package, &files));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
