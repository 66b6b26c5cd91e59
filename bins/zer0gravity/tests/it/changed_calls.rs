//! Calls that are edited after the report was made of them.

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, column};

#[test]
fn z17_edited_calls_are_refused_until_the_report_is_rebuilt() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &["run", "--level", "1", "--run-dir", "dir"])
        .exits(0);
    let calls = place.read("dir/calls.jsonl");
    let edited = calls.replace(r#"\"score\": 38"#, r#"\"score\": 40"#);
    let edited = if edited == calls {
        calls.replace(r#"\"score\":38"#, r#"\"score\":40"#)
    } else {
        edited
    };
    assert_ne!(edited, calls, "{calls}");
    place.file("dir/calls.jsonl", &edited);
    place.file("old.json", place.read("dir/report.json"));
    stub.reset(StubMode::Ok);
    let refused = [
        &["resume", "dir"][..],
        &["rescore", "dir"],
        &["export", "dir", "--csv", "-"],
        &["report", "dir", "--html", "-"],
        &["compare", "dir", "old.json"],
        &["status", "dir"],
    ];
    for arguments in refused {
        let ran = match arguments[0] {
            "resume" | "rescore" => place.asking(&stub, arguments),
            _ => place.alone(arguments),
        };
        let told = &ran.stderr;
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(1), ""),
            "{arguments:?}"
        );
        assert!(
            told.contains("dir/calls.jsonl: changed after report.json"),
            "{told}"
        );
        assert!(told.contains("resume dir --accept-changed-calls"), "{told}");
    }
    let accepted = ["resume", "dir", "--accept-changed-calls"];
    place.asking(&stub, &accepted).exits(0);
    assert_eq!(stub.stats().calls, 0);
    let report = place.read_json("dir/report.json");
    assert_eq!(report["callsFile"]["changed"], true);
    let totals = column(report["results"].as_array().unwrap(), "/total");
    assert_eq!(totals, ["76", "75"]);
    // It stays so, and what was added since is no change.
    place
        .asking(&stub, &["rescore", "dir", "--judge-model", "other"])
        .exits(0);
    assert_eq!(
        place.read_json("dir/report.json")["callsFile"]["changed"],
        true
    );
    // Restored, it is another file again.
    place.file("dir/calls.jsonl", &calls);
    place.asking(&stub, &["resume", "dir"]).exits(1);
}
