//! `--max-usd` is a wall: what is spent stays below it, whatever runs at the same time.

use test_support::{CompressionStub, StubCall, StubMode};

use crate::program::{Place, column};

/// Dollars a million tokens of the default model: of prompts, of replies.
const PRICE: (f64, f64) = (3.0, 15.0);

/// At most what a call to a model can have cost: its text has fewer tokens than bytes, and no reply of the stub is
/// longer than its question.
fn at_most(call: &StubCall) -> f64 {
    if call.body.get("max_tokens").is_none() {
        return 0.0;
    }
    let bytes = call.body.to_string().len() as f64;
    (bytes * PRICE.0 + bytes * PRICE.1) / 1e6
}

#[test]
fn a_cap_that_no_call_fits_under_sends_nothing_but_counts() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let arguments = ["run", "--all", "--max-usd", "0.000001"];
    let ran = place.asking(&stub, &arguments).exits(130);
    let messages = stub.calls().into_iter().filter(|call| at_most(call) > 0.0);
    assert_eq!(messages.count(), 0);
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
    let ran = place.asking(&stub, &arguments);
    let spent: f64 = stub.calls().iter().map(at_most).sum();
    assert!(spent <= 0.07, "{spent}");
    assert!(matches!(ran.code, Some(0 | 130)), "{ran:?}");
    let arguments = ["resume", "dir", "--max-usd", "5"];
    place.asking(&stub, &arguments).exits(0);
    let results = place.read_json("dir/report.json")["results"].clone();
    let totals = column(results.as_array().unwrap(), "/total");
    assert_eq!(totals, ["73", "72", "75", "67"]);
    assert_eq!(stub.stats().calls, 24);
}
