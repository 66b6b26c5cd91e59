//! The saving of an encoding, by closed forms.

use llm_types::Usd;
use proptest::prelude::*;
use serde_json::json;
use zer0gravity_engine::metrics::cost::{
    Cost, Messages, MoneySaved, amortised, known_overhead_tokens,
};

/// The percents for 1, 10, 100 and endlessly many messages in tenths, and the break-even.
fn curve(o: u64, e: u64, rules: u64) -> (Vec<i64>, Option<u64>) {
    let curve = amortised(o, e, rules);
    let tenths = |percent: f64| (percent * 10.0).round() as i64;
    let percents = curve.amortised.iter().map(|at| tenths(at.percent));
    (percents.collect(), curve.break_even_messages)
}

#[test]
fn closed_forms() {
    for (o, e, rules, percents, break_even) in [
        (86, 78, 278, [-3140, -230, 61, 93], Some(35)),
        (100, 60, 0, [400, 400, 400, 400], Some(0)),
        (100, 50, 50, [0, 450, 495, 500], Some(1)),
        (100, 50, 51, [-10, 449, 495, 500], Some(2)),
        // 12.25 is 12.3, and -12.25 is -12.2: halves go up.
        (400, 351, 0, [123, 123, 123, 123], Some(0)),
        (400, 449, 0, [-122, -122, -122, -122], None),
        (50, 50, 10, [-200, -20, -2, 0], None),
        (50, 51, 0, [-20, -20, -20, -20], None),
        (0, 0, 100, [0, 0, 0, 0], None),
        (10, 0, 7, [300, 930, 993, 1000], Some(1)),
    ] {
        assert_eq!(
            curve(o, e, rules),
            (percents.to_vec(), break_even),
            "{o} {e} {rules}"
        );
    }
    assert_eq!(
        amortised(u64::MAX, 0, u64::MAX).break_even_messages,
        Some(1)
    );
    let messages: Vec<_> = amortised(1, 1, 1)
        .amortised
        .iter()
        .map(|at| at.messages)
        .collect();
    let counts = [1, 10, 100].map(Messages::Count);
    assert_eq!(messages, [&counts[..], &[Messages::Endless]].concat());
    assert_eq!(Messages::Endless.to_string(), "inf");
}

#[test]
fn the_json_has_its_keys_in_their_order() {
    let overhead = known_overhead_tokens("claude-sonnet-4-5-20250929");
    let mut cost = Cost::new(86, 78, 278, overhead);
    cost.tokens_spent = 5000;
    cost.usd = Some(Usd(123_000));
    cost.per_1000_messages = vec![MoneySaved::new("list 2026-01", 86, 78, Usd(3_000_000_000))];
    let text = concat!(
        r#"{"rulesTokens":278,"wrapperTokens":7,"wrapperTokensSource":"none","gross":{"o":86,"e":78,"percent":9.3},"net":{"o":79,"e":71,"percent":10.1},"#,
        r#""amortised":[{"messages":1,"percent":-314},{"messages":10,"percent":-23},{"messages":100,"percent":6.1},"#,
        r#"{"messages":"inf","percent":9.3}],"breakEvenMessages":35,"tokensSpent":5000,"usd":"0.000123","#,
        r#""per1000Messages":[{"prices":"list 2026-01","usdSaved":"0.024"}]}"#
    );
    assert_eq!(serde_json::to_string(&cost).unwrap(), text);
    assert_eq!(serde_json::from_str::<Cost>(text).unwrap(), cost);
}

#[test]
fn what_is_not_known_is_null() {
    let cost = Cost::new(78, 86, 5, known_overhead_tokens("another"));
    let value = serde_json::to_value(&cost).unwrap();
    for key in ["wrapperTokens", "net", "breakEvenMessages", "usd"] {
        assert_eq!(value[key], json!(null), "{key}");
    }
    assert_eq!(serde_json::from_value::<Cost>(value).unwrap(), cost);
    for (key, wrong) in [
        ("usd", json!(0.5)),
        ("usd", json!("a lot")),
        ("amortised", json!([{"messages": "many", "percent": 1}])),
        ("amortised", json!([{"messages": -1, "percent": 1}])),
    ] {
        let mut value = serde_json::to_value(&cost).unwrap();
        value[key] = wrong;
        assert!(serde_json::from_value::<Cost>(value).is_err(), "{key}");
    }
}

#[test]
fn money_is_exact_and_never_too_high() {
    let saved = |o, e, price| MoneySaved::new("", o, e, Usd(price)).usd_saved.0;
    assert_eq!(saved(86, 78, 3_000_000_000), 24_000_000);
    assert_eq!(saved(78, 86, 3_000_000_000), -24_000_000);
    // A thousandth of a nano-dollar is rounded down.
    assert_eq!(saved(3, 2, 1999), 1);
    assert_eq!(saved(2, 3, 1999), -2);
    assert_eq!(saved(u64::MAX, 0, i64::MAX), i64::MAX);
    assert_eq!(saved(0, u64::MAX, i64::MAX), i64::MIN);
}

#[test]
fn an_overhead_larger_than_the_text_leaves_no_percent() {
    let net = Cost::new(5, 4, 0, Some(7)).net.unwrap();
    assert_eq!(
        serde_json::to_value(net).unwrap(),
        json!({"o": -2, "e": -3, "percent": 0})
    );
}

proptest! {
    #[test]
    fn the_rules_have_paid_at_break_even_and_not_before(o in 1..2000_u64, e in 0..2000_u64, rules in 0..5000_u64) {
        match amortised(o, e, rules).break_even_messages {
            None => prop_assert!(o <= e),
            Some(messages) => {
                let saved = o - e;
                prop_assert!(messages * saved >= rules);
                prop_assert!(messages == 0 || (messages - 1) * saved < rules);
            }
        }
    }

    #[test]
    fn any_numbers_make_a_cost_that_reads_back(numbers in any::<(u64, u64, u64, Option<u64>, Option<i64>)>()) {
        let (o, e, rules, overhead, usd) = numbers;
        let usd = usd.map(Usd);
        let mut cost = Cost::new(o, e, rules, overhead);
        cost.usd = usd;
        let text = serde_json::to_string(&cost).unwrap();
        let back: Cost = serde_json::from_str(&text).unwrap();
        prop_assert_eq!((back.usd, back.net.map(|net| net.o), back.break_even_messages), (usd, cost.net.map(|net| net.o), cost.break_even_messages));
    }
}
