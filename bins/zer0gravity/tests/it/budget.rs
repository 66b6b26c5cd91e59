//! `--max-usd` is a wall: what is spent stays below it, whatever runs at the same time.

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, column};

#[test]
fn a_cap_that_no_call_fits_under_sends_nothing_but_counts() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let arguments = ["run", "--all", "--max-usd", "0.000001"];
    let ran = place.asking(&stub, &arguments).exits(130);
    let calls = stub.calls();
    let mut messages = calls
        .iter()
        .filter(|call| call.body.get("max_tokens").is_some());
    assert!(messages.next().is_none());
    let results = ran.results();
    assert!(column(&results, "/total").iter().all(String::is_empty));
    assert!(ran.stderr.contains("0.000001"), "{}", ran.stderr);
}

#[test]
fn a_cap_is_kept_with_eight_calls_at_a_time_and_a_higher_one_goes_on() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    // An encoder's longest reply is reserved at 4096 * 15 / 1e6 = 0.061 dollars: one fits, two do not.
    let arguments = [
        "run",
        "--all",
        "--concurrency",
        "8",
        "--run-dir",
        "dir",
        "--max-usd",
        "0.07",
    ];
    place.asking(&stub, &arguments).exits(130);
    // By what the replies say they took, which the report sums up.
    let report = place.read_json("dir/report.json");
    let spent: f64 = report["cost"]["usd"].as_str().unwrap().parse().unwrap();
    assert!(spent > 0.0 && spent <= 0.07, "{spent}");
    // One reply still fits and no two do: calls wait for what the one under way gives back, and the cap ends nothing.
    place
        .asking(&stub, &["resume", "dir", "--max-usd", "0.1"])
        .exits(0);
    let results = place.read_json("dir/report.json")["results"].clone();
    let totals = column(results.as_array().unwrap(), "/total");
    assert_eq!(totals, ["73", "72", "75", "67"]);
    assert_eq!(stub.stats().calls, 24);
}
