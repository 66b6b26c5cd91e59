//! The protocol meter counts what minds did: those of `disobedient` are known from their nonces.

use std::collections::BTreeMap;

use logosphere_core::Settings;
use logosphere_core::config::{ForgedSignaturePolicy, Scheduling};
use logosphere_core::format::{ParseMode, Reason};
use logosphere_core::journal::Protocol;
use serde_json::Value;

use crate::desk;

/// The outcome of each manner of `disobedient`, and whether it counts as compliant, tolerated or lost.
fn manners(settings: &Settings) -> [(Reason, char); 10] {
    use Reason::{Impersonation as Impersonated, NoDelimiter, Ok, Silence, Unterminated};
    let strict = settings.parse_mode == ParseMode::Strict;
    let lone_closer = if strict {
        (Unterminated, 'l')
    } else {
        (Ok, 't')
    };
    let as_init = match settings.impersonation {
        ForgedSignaturePolicy::Discard if !strict => (Impersonated, 'l'),
        _ => (Ok, 'c'),
    };
    [
        (Ok, 'c'),
        (Ok, 'c'),
        lone_closer,
        (Unterminated, 'l'),
        (Silence, 'c'),
        (Ok, 'c'),
        as_init,
        (Ok, 'c'),
        (NoDelimiter, 'l'),
        (NoDelimiter, 'l'),
    ]
}

fn manner(settings: &Settings, round: u32, mind: u32) -> usize {
    let nonce = *desk::side(settings.seed, round, mind).nonce();
    let first = u64::from_le_bytes(nonce[..8].try_into().unwrap());
    (first % 10) as usize
}

/// The meter that the nonces give for these rounds.
fn expected(settings: &Settings, rounds: std::ops::RangeInclusive<u32>) -> Protocol {
    let mut meter = Protocol::default();
    let manners = manners(settings);
    for round in rounds {
        for mind in 0..settings.n_minds {
            let (reason, kind) = manners[manner(settings, round, mind)];
            *meter.by_reason.entry(reason).or_default() += 1;
            match kind {
                'c' => meter.compliant += 1,
                't' => meter.tolerated += 1,
                _ => meter.lost += 1,
            }
        }
    }
    meter
}

fn meter(event: &Value) -> Protocol {
    serde_json::from_value(event["protocol"].clone()).unwrap()
}

/// A run of default size.
fn settings() -> Settings {
    Settings::default().with(|settings| {
        settings.provider = "offline".into();
        settings.mind = Some("disobedient".to_owned());
        settings.seed = 42;
    })
}

fn check(settings: &Settings) -> Vec<Value> {
    let (_, journal) = desk::run(settings, desk::mind(settings));
    let lines = desk::lines(&journal);
    let calls: Vec<_> = (lines.iter())
        .filter(|line| line["type"] == "mind_invocation")
        .collect();
    assert_eq!(calls.len(), 30);
    let manners = manners(settings);
    for call in calls {
        let place = |key: &str| call[key].as_u64().unwrap() as u32;
        let (round, mind) = (place("round"), place("mind_id"));
        let (reason, _) = manners[manner(settings, round, mind)];
        let found: Reason = serde_json::from_value(call["parse"]["reason"].clone()).unwrap();
        assert_eq!(found, reason, "round {round}, mind {mind}");
        let sent = call["transmitted"].as_array().unwrap().len();
        assert_eq!(sent, usize::from(reason == Reason::Ok));
    }
    let ends: Vec<_> = (lines.iter())
        .filter(|line| line["type"] == "round_end")
        .collect();
    assert_eq!(ends.len(), 10);
    for (round, end) in (1..).zip(ends) {
        assert_eq!(meter(end), expected(settings, round..=round));
    }
    let end = lines.last().unwrap();
    assert_eq!(end["type"], "experiment_end");
    assert_eq!(meter(end), expected(settings, 1..=10));
    lines
}

#[test]
fn the_seed_of_this_test_meets_every_manner() {
    let mut met = BTreeMap::new();
    for round in 1..=10 {
        for mind in 0..3 {
            *met.entry(manner(&settings(), round, mind)).or_insert(0) += 1;
        }
    }
    assert_eq!(
        met.into_keys().collect::<Vec<_>>(),
        (0..10).collect::<Vec<_>>()
    );
}

#[test]
fn reasons_and_meter_are_those_of_the_nonces() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let lines = check(&settings().with(|settings| settings.scheduling = scheduling));
        let noted = |note: &str| {
            let has = |line: &&Value| {
                let notes = line["parse"]["notes"].as_array();
                notes.is_some_and(|notes| notes.iter().any(|found| found == note))
            };
            lines.iter().filter(has).count()
        };
        let in_manner = |wanted: usize| {
            let calls = (1..=10).flat_map(|round| (0..3).map(move |mind| (round, mind)));
            calls
                .filter(|(round, mind)| manner(&settings(), *round, *mind) == wanted)
                .count()
        };
        assert_eq!(noted("lenient_end"), in_manner(2));
        assert_eq!(noted("impersonates_init"), in_manner(6));
        assert_eq!(noted("tolerated_delimiter"), in_manner(7));
        assert_eq!(noted("near_delimiter"), in_manner(9));
    }
}

#[test]
fn discarded_impersonation_is_a_loss_with_its_own_reason() {
    check(&settings().with(|settings| settings.impersonation = ForgedSignaturePolicy::Discard));
}

#[test]
fn strict_reading_loses_the_lone_closer() {
    check(&settings().with(|settings| settings.parse_mode = ParseMode::Strict));
}
