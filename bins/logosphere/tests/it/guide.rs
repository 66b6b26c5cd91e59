//! The settings that `docs/logosphere-formats.md` lists, and the experiment that is kept.

use std::collections::BTreeSet;
use std::fs;

use test_support::{Guide, fixture};

use crate::program::{Place, words};

#[test]
fn every_key_of_the_guide_is_a_setting() {
    let guide = Guide::read("logosphere-formats");
    let section = guide.section("Choose the settings");
    let named: BTreeSet<_> = section.text().split('`').skip(1).step_by(2).collect();
    let place = Place::new();
    place
        .alone(&["run", "--output-dir", "E", "--rounds", "0"])
        .exits(0);
    let effective = place.read_json("E/config.effective.json");
    let settings = effective.as_object().unwrap().keys().map(String::as_str);
    let besides = words("config_sha256 init_sha256 schema_version software system_prompt_sha256");
    for setting in settings.filter(|setting| !besides.contains(setting)) {
        assert!(named.contains(setting), "{setting}");
    }
}

#[test]
fn the_experiment_that_is_kept_holds() {
    let place = Place::new();
    for name in ["copier", "mutator"] {
        let kept = fixture("../experiments/2026-11-22-drift-or-selection").join(name);
        let ran = place.alone(&["verify", kept.to_str().unwrap()]).exits(0);
        let told = "holds: 422 lines, 60 rounds, 300 calls, 306 messages";
        assert!(ran.stdout.contains(told), "{}", ran.stdout);
        let descent = place
            .alone(&["null-model", kept.to_str().unwrap(), "--all"])
            .exits(0);
        assert_eq!(
            descent.stdout,
            fs::read_to_string(kept.join("descent.txt")).unwrap()
        );
    }
}
