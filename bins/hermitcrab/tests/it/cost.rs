//! The cost of calls, and the limits that stop a request before it is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use test_support::{Answer, CannedReply};

use crate::model::{GREETING, Talk, assert_paired, calls, fails, streamed};
use crate::program::Place;

/// Returns the sum of these fields over `usage.jsonl`.
fn summed(place: &Place, fields: &[&str]) -> u64 {
    let journal = place.read("data/usage.jsonl");
    let lines = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|line| -> u64 { fields.iter().filter_map(|field| line[field].as_u64()).sum() })
        .sum()
}

/// Returns an answer that costs something.
fn dear(text: &str) -> test_support::Answer {
    streamed(&CannedReply::text(text).tokens(3_000, 700))
}

#[test]
fn the_cost_is_the_sum_of_the_journal() {
    let append = json!({"name": "memory", "content": "kept"}).to_string();
    let talk = Talk::of([
        streamed(
            &CannedReply::text("")
                .call("c1", "block_append", &append)
                .tokens(1_000, 100),
        ),
        dear("here"),
        dear("there"),
    ]);
    talk.say("first\n").exits(0);
    let second = talk.say("second\n/cost\n").exits(0);
    let cost = talk.place.json(&["cost"]);
    let total = &cost["total"];
    assert_eq!(total["calls"], 4);
    assert_eq!(total["calls"], talk.server.requests().len());
    assert_eq!(total["unknown"], 0);
    let inputs = ["input", "cached_read", "cached_write"];
    assert_eq!(total["input"], summed(&talk.place, &inputs));
    assert_eq!(total["input"], 10 + 1_000 + 3_000 + 3_000);
    assert_eq!(total["output"], summed(&talk.place, &["output"]));
    assert_eq!(total["output"], 5 + 100 + 700 + 700);
    // $4 and $20 for a million.
    let nano = (10 + 1_000 + 6_000) * 4_000 + (5 + 100 + 1_400) * 20_000;
    assert_eq!(total["usd"], f64::from(nano) / 1e9);
    let lines = talk.place.read("data/usage.jsonl");
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let on_record: f64 = lines.map(|line| line["usd"].as_f64().unwrap()).sum();
    assert!((on_record - f64::from(nano) / 1e9).abs() < 1e-9);
    assert_eq!(cost["day"], *total);
    // The same to a person, here and in the talk.
    let told = talk.place.run(&["cost"]).exits(0).stdout;
    let line = told.lines().find(|line| line.starts_with("total")).unwrap();
    let line = line.trim_start_matches("total").trim();
    assert!(
        line.starts_with("4 calls, 7010 tokens in (0 cached), 1505 out, $0.0581"),
        "{line}"
    );
    assert!(second.stdout.contains(line), "{}", second.stdout);
}

#[test]
fn each_month_is_summed_and_older_lines_are_packed() {
    let talk = Talk::of([dear("here")]);
    talk.say("").exits(0);
    let begun = talk.place.read("data/usage.jsonl");
    let line = begun.lines().next().unwrap();
    let of_month = |month: u32| {
        let mut call: Value = serde_json::from_str(line).unwrap();
        call["at"] = json!(format!("2025-{month:02}-03T00:00:00Z"));
        format!("{call}\n").repeat(700)
    };
    talk.place.file(
        "data/usage.jsonl",
        of_month(1) + &of_month(2) + &of_month(3) + line + "\n",
    );
    let before = talk.place.json(&["cost", "--by-month"]);
    assert_eq!(before["total"]["calls"], 2_101);
    let months = before["by_month"].as_object().unwrap();
    let calls: Vec<_> = months.values().map(|month| &month["calls"]).collect();
    assert_eq!(calls, [700, 700, 700, 1]);
    // The next start packs a long file; then everything is as it was.
    talk.say("first\n").exits(0);
    let journal = talk.place.read("data/usage.jsonl");
    assert_eq!(journal.lines().count(), 2);
    assert!(journal.starts_with("{\"carried\":{"), "{journal}");
    let after = talk.place.json(&["cost", "--by-month"]);
    assert_eq!(after["total"]["calls"], 2_102);
    assert_eq!(after["by_model"]["claude-opus-5-5"]["calls"], 2_102);
    assert_eq!(after["day"]["calls"], 2);
    for month in ["2025-01", "2025-02", "2025-03"] {
        assert_eq!(after["by_month"][month], before["by_month"][month]);
    }
    let told = talk.place.run(&["cost", "--by-month"]).exits(0).stdout;
    let firsts: Vec<_> = told.lines().map(|line| &line[..7]).collect();
    assert_eq!(firsts.len(), 5);
    assert_eq!(firsts[..3], ["2025-01", "2025-02", "2025-03"]);
    assert_eq!(firsts[4], "total  ");
}

#[test]
fn a_newer_usage_file_refuses_the_start_and_is_not_changed() {
    let talk = Talk::of([dear("here")]);
    talk.say("").exits(0);
    let newer = "{\"schema_version\": 7}\n";
    talk.place.file("data/usage.jsonl", newer);
    let said = talk.place.read("data/conversation.jsonl");
    let words = "data/usage.jsonl was written by a newer hermitcrab (schema 7, this one knows 1): update the program, or use --data";
    talk.say("first\n").exits(1).tells(&[words]);
    talk.place.run(&["cost"]).exits(1).tells(&[words]);
    assert_eq!(talk.place.read("data/usage.jsonl"), newer);
    assert_eq!(talk.place.read("data/conversation.jsonl"), said);
}

#[test]
fn one_call_is_told_in_the_singular() {
    let talk = Talk::of([dear("here")]);
    talk.say("").exits(0);
    let told = talk.place.run(&["cost"]).exits(0).stdout;
    assert!(told.contains("\ntotal  1 call, 10 tokens in"), "{told}");
    let ran = talk.say("first\n/cost\n").exits(0);
    assert!(ran.stdout.contains("turn  1 call, 3000"), "{}", ran.stdout);
    ran.tells(&["claude-opus-5-5 · 1 round · "]);
}

#[test]
fn a_line_that_cannot_be_read_is_left_out_of_the_sum() {
    let talk = Talk::of([dear("here")]);
    talk.say("first\n").exits(0);
    let journal = talk.place.read("data/usage.jsonl");
    let lines: Vec<_> = journal.lines().collect();
    talk.place.file(
        "data/usage.jsonl",
        format!("{}\nno line\n{}\n", lines[0], &lines[1][..20]),
    );
    let cost = talk.place.json(&["cost"]);
    assert_eq!(cost["total"]["calls"], 1);
    talk.say("second\n").exits(0);
    assert_eq!(talk.place.json(&["cost"])["total"]["calls"], 2);
}

/// Returns the number of requests after the greeting, under these settings and with a model that calls tools without end.
#[track_caller]
fn stopped(settings: &str, arguments: &[&str], words: &[&str]) -> usize {
    let mut number = 0;
    let talk = Talk::by(move |_, _| {
        number += 1;
        // Another one each time: equal calls are stopped for their own reason.
        let read = json!({"name": "keystone", "path": format!("0.{}", number % 5 + 1)});
        let call =
            CannedReply::text("").call(&format!("c{number}"), "block_read", &read.to_string());
        streamed(&call.tokens(9_000, 2_000))
    });
    talk.say("").exits(0);
    talk.place.file("data/hermitcrab.toml", settings);
    // The cap of the process ends a pipe: its second line is not read.
    let (lines, code) = match arguments {
        [] => ("first\n", 3),
        _ => ("first\nsecond\n", 130),
    };
    let ran = talk.say_with(lines, arguments).exits(code);
    let ran = ran.tells(words);
    let told = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("hermitcrab: stopped"));
    assert_eq!(told.count(), 1, "{}", ran.stderr);
    for body in talk.asked() {
        assert_paired(&body);
    }
    let asked = talk.asked().len();
    // The record has the calls with their results, and the next start calls no model.
    let ran = talk.say("/cost\n").exits(0);
    assert!(!ran.stdout.contains(GREETING));
    assert_eq!(talk.asked().len(), asked);
    asked
}

#[test]
fn budgets_stop_before_the_request() {
    for (settings, words, asked) in [
        ("[budgets]\nrounds = 3\n", "budgets.rounds", 3),
        (
            "[budgets]\ninput_tokens = 18500\n",
            "budgets.input_tokens",
            2,
        ),
        (
            "[budgets]\noutput_tokens = 4000\n",
            "budgets.output_tokens",
            2,
        ),
        // A call costs $0.076; the next one is reckoned before it is made.
        ("[budgets]\nturn_usd = 0.17\n", "budgets.turn_usd", 2),
        ("[budgets]\nday_usd = 0.17\n", "budgets.day_usd", 2),
        ("[budgets]\nturn_usd = 0.001\n", "budgets.turn_usd", 0),
        ("[budgets]\ninput_tokens = 100\n", "budgets.input_tokens", 0),
    ] {
        assert_eq!(
            stopped(settings, &[], &["stopped", words]),
            asked,
            "{settings}"
        );
    }
}

#[test]
fn a_cap_of_the_run_stops_before_the_request() {
    // A call costs $0.076; the client reserves one token of the prompt for two bytes of it, and the longest reply.
    assert_eq!(
        stopped("", &["--max-usd", "0.18"], &["--max-usd", "$0.18"]),
        2
    );
    assert_eq!(stopped("", &["--max-usd", "0.0001"], &["--max-usd"]), 0);
}

/// Each reply is interrupted after its text, and the provider bills the longest reply that was allowed.
#[test]
fn replies_that_break_off_are_booked_and_stop_at_the_cap() {
    let billed = Arc::new(AtomicI64::new(0));
    let talk = Talk::by({
        let billed = billed.clone();
        move |received, _| {
            let longest = received.json()["max_tokens"].as_i64().unwrap();
            let prompt = received.body.len() as i64 / 8;
            billed.fetch_add(prompt * 4_000 + longest * 20_000, Ordering::SeqCst);
            let events = CannedReply::text("half of it").anthropic_events();
            Answer::sse(&events[..events.len() - 3])
        }
    });
    talk.say("").exits(0);
    let before = talk.place.json(&["cost"])["total"]["calls"]
        .as_u64()
        .unwrap();
    let lines = "go on\n".repeat(40);
    talk.say_with(&lines, &["--max-usd", "0.60"]);
    let billed = billed.load(Ordering::SeqCst);
    assert!(billed > 0 && billed <= 600_000_000, "{billed}");
    let total = talk.place.json(&["cost"])["total"].clone();
    let calls = total["calls"].as_u64().unwrap();
    assert_eq!(
        total["unsettled"].as_u64().unwrap(),
        calls - before,
        "{total}"
    );
    let usd = total["usd"].as_f64().unwrap();
    assert!(usd * 1e9 >= billed as f64, "{usd} {billed}");
    let told = talk.place.run(&["cost"]).exits(0).stdout;
    let journal = talk.place.read("data/usage.jsonl");
    let reserved = journal.matches("\"cost_from\":\"reserved\"").count();
    assert_eq!(reserved as u64, calls - before, "{journal}");
    let line = format!(
        "total  {calls} calls, of these {} of unknown outcome, up to $",
        calls - before
    );
    assert!(told.contains(&line), "{told}");
}

#[test]
fn a_cap_without_a_price_is_refused_before_anything_is_sent() {
    let talk = Talk::of([dear("here")]);
    let arguments = ["--max-usd", "1", "--model", "nobody-knows-it"];
    let ran = talk.say_with("first\n", &arguments);
    assert_ne!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(talk.server.requests().len(), 0, "{}", ran.stderr);
    // With a price of the person's own it is asked.
    talk.place.file(
        "data/hermitcrab.toml",
        "[[model]]\nid = \"nobody-knows-it\"\nprice = { input = 1.0, output = 2.0, date = \"2026-11-22\" }\n",
    );
    talk.say_with("first\n", &arguments).exits(0);
    let cost = talk.place.json(&["cost"]);
    assert_eq!(
        cost["total"]["usd"],
        f64::from(3_010 * 1_000 + 705 * 2_000) / 1e9
    );
}

#[test]
fn equal_calls_are_stopped() {
    let read = json!({"name": "keystone"});
    let mut number = 0;
    let talk = Talk::by(move |_, _| {
        number += 1;
        calls(&format!("c{number}"), "block_read", &read)
    });
    talk.say("first\n")
        .exits(3)
        .tells(&["called too often (5 times)"]);
    assert_eq!(talk.asked().len(), 5);
}

#[test]
fn settings_that_make_no_sense_name_file_and_line() {
    let place = Place::new();
    for (settings, words) in [
        ("colour = 1\n", &["line 1", "colour"][..]),
        ("\n[budgets]\nrounds = 0\n", &["line 3"]),
        ("[[model]]\nid = \"\"\n", &["line 2"]),
        (
            "[[model]]\nid = \"m\"\nprice = { input = -1.0, output = 2.0, date = \"2026-11-22\" }\n",
            &["line 3", "-1"],
        ),
        (
            "[[model]]\nid = \"m\"\nthinking = \"hard\"\n",
            &["line 3", "hard"],
        ),
        ("no toml at all", &["line 1"]),
    ] {
        place.file("data/hermitcrab.toml", settings);
        for command in [&["chat"][..], &["prompt", "--phase", "call"]] {
            let ran = place.run(command).exits(2);
            ran.tells(&["hermitcrab.toml"]).tells(words);
        }
    }
}

/// The first model is not served. The next one has no price, so that no cap could be applied.
#[test]
fn h2_a_next_model_without_a_price_is_not_asked_under_a_cap() {
    let talk = chain("id = \"nobody-knows-it\"");
    let ran = talk.say_with("first\n", &["--max-usd", "1"]);
    assert_ne!(ran.code, Some(0), "{}", ran.stderr);
    let words = ["the price of nobody-knows-it is not known", "--max-usd"];
    let ran = ran.tells(&words);
    assert!(!ran.stderr.contains("answers now"), "{}", ran.stderr);
    assert!(!asked_models(&talk).contains(&"nobody-knows-it".to_owned()));
}

/// The next model is far more expensive than the first one. Its replies are counted at its own price, also in later turns.
#[test]
fn h2_each_attempt_is_held_to_the_price_of_its_model() {
    const CAP: f64 = 4.0;
    /// The price in dollars a token.
    const PRICE: f64 = 1_000.0 / 1e6;
    let price = "price = { input = 1.0, output = 1000.0, date = \"2026-11-22\" }";
    let talk = chain(&format!("id = \"dear-one\"\n{price}"));
    talk.say_with("first\nsecond\nthird\nfourth\n", &["--max-usd", "4"]);
    let requests = talk.server.requests();
    let bodies = requests.iter().map(test_support::Received::json);
    let dear: Vec<_> = bodies.filter(|body| body["model"] == "dear-one").collect();
    assert!(dear.len() > 1, "{}", dear.len());
    for (number, body) in dear.iter().enumerate() {
        let longest = body["max_tokens"].as_f64().unwrap();
        // Billed in full it still keeps the cap.
        let taken = number as f64 * 705.0 * PRICE;
        assert!(taken + longest * PRICE <= CAP, "{number}: {longest}");
    }
    // The first model was tried once: the one that answered is asked from then on.
    let first = asked_models(&talk)
        .iter()
        .filter(|model| *model == FIRST)
        .count();
    assert_eq!(first, 1);
}

const FIRST: &str = "claude-opus-5-5";

/// Returns a chain of a model that is not served and this one.
fn chain(next: &str) -> Talk {
    let talk = Talk::server(|received| {
        if received.json()["model"] == FIRST {
            fails(404, "not_found_error")
        } else {
            dear("here")
        }
    });
    let settings = format!(
        "[[model]]\nid = \"{FIRST}\"\n[[model]]\n{next}\n[budgets]\nturn_usd = 100.0\nday_usd = 100.0\n"
    );
    talk.place.file("data/hermitcrab.toml", settings);
    talk
}

/// Returns the models of all requests in their order.
fn asked_models(talk: &Talk) -> Vec<String> {
    let requests = talk.server.requests();
    let model =
        |received: &test_support::Received| received.json()["model"].as_str().unwrap().to_owned();
    requests.iter().map(model).collect()
}
