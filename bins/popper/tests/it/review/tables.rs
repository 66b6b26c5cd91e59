//! Names and claims in the tables of verdicts.

use serde_json::json;

use crate::process::{false_law, file, popper, quick};
use crate::runs::Place;

#[test]
fn a_name_is_whole_in_a_pipe_and_the_claim_is_beside_it_with_v() {
    let name = "a_name_of_more_than_forty_characters_that_nothing_may_cut_in_its_middle";
    let laws = file("tables.laws.json", false_law(name).to_string());
    let check = |flags: &[&str]| {
        let ran = popper(&[&["check", "--config", &quick(), &laws], flags].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    };
    let plain = check(&[]);
    assert!(plain.starts_with(&format!("{name}  FAIL  ")), "{plain}");
    let verbose = check(&["-v"]);
    assert!(
        verbose.contains(&format!("\n{name}  r(t) == r(0)  FAIL     ")),
        "{verbose}"
    );
    let header = verbose.lines().next().unwrap();
    assert!(header.contains("  claim  "), "{verbose}");
    let expected =
        json!({"schema_version": "1.0.0", "expected": [{"law_id": name, "status": "PASS"}]});
    let expected = file("tables.expected.json", expected.to_string());
    let ran = popper(&["check", "--config", &quick(), &laws, "--expect", &expected]);
    assert!(
        ran.stdout.contains(&format!("\n{name}  status  ")),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_run_counts_what_was_proposed_and_shows_claims() {
    let place = Place::new();
    // 8 proposed and 4 tested in each.
    let ran = place.run(&["--iterations", "2"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for shown in [ran.stdout, place.popper(&["status"]).stdout] {
        assert!(
            shown.contains("laws       16 proposed: 8 tested, 8 waiting\n"),
            "{shown}"
        );
        assert!(shown.contains("  claim  "), "{shown}");
    }
}
