//! `--max-usd` is a wall: what is spent stays below it, whatever runs at the same time.

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, column, words};

#[test]
fn z25_a_cap_below_the_first_call_sends_nothing() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    // 4096 tokens of reply at 15 dollars a million are 0.06144 dollars.
    let arguments = ["run", "--all", "--run-dir", "dir", "--max-usd", "0.06"];
    let ran = place.asking(&stub, &arguments).exits(2);
    for told in ["--max-usd", "$0.06", "--max-output-tokens"] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert_eq!((stub.stats().calls, place.path("dir").exists()), (0, false));
    let shorter = [&arguments[..], &["--max-output-tokens", "200"]].concat();
    place.asking(&stub, &shorter).exits(0);
}

#[test]
fn z25_a_run_that_its_cap_ends_says_so_and_how_to_continue() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let arguments = ["run", "--all", "--max-usd", "0.07"];
    let kept = [&arguments[..], &["--run-dir", "dir"]].concat();
    let last = |arguments: &[&str]| {
        let ran = place.asking(&stub, arguments).exits(130);
        ran.stderr.lines().last().unwrap().to_owned()
    };
    let told = last(&kept);
    for part in [
        "cost cap of $0.07 reached ($0.0",
        "continue with: zer0gravity resume dir --max-usd 0.14",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(last(&arguments).contains("without --run-dir"));
}

#[test]
fn a_cap_is_kept_with_eight_calls_at_a_time_and_a_higher_one_goes_on() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    // An encoder's longest reply is reserved at 4096 * 15 / 1e6 = 0.061 dollars: one fits, two do not.
    let arguments = words("run --all --concurrency 8 --run-dir dir --max-usd 0.07");
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
