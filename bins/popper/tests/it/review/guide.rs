//! The tables of `docs/popper-laws.md` and `docs/popper-verdicts.md` say what the program does.

use std::collections::BTreeMap;

use popper_discovery::LoopConfig;
use popper_harness::decide::Config;
use popper_harness::law::measure;
use popper_harness::law::{MAX_CASES, MAX_ITEMS, MAX_RING, MAX_STEPS};
use popper_harness::universe::{KineticGrid, MAX_RADIUS, MAX_SYMBOLS, Universe as _};
use serde_json::{Value, json};
use test_support::Guide;

fn code(cell: &str) -> &str {
    cell.trim_matches('`')
}

#[test]
fn every_observable_has_the_value_of_its_example() {
    let guide = Guide::read("popper-laws");
    let state = KineticGrid.alphabet().parse(".>><X..>").unwrap();
    let rows = guide.table("| observable | value | meaning |");
    assert!(rows.len() >= 14);
    for row in rows {
        let value = measure(code(row[0]), &state, &KineticGrid).unwrap();
        assert_eq!(value.to_string(), row[1], "{}", row[0]);
    }
}

#[test]
fn every_field_of_the_configuration_is_listed_with_its_default() {
    let guide = Guide::read("popper-verdicts");
    let mut known: BTreeMap<String, Value> = BTreeMap::new();
    for config in [json!(Config::default()), json!(LoopConfig::default())] {
        for (field, default) in config.as_object().unwrap() {
            match default.as_object() {
                None => drop(known.insert(field.clone(), default.clone())),
                Some(inner) => known.extend(
                    inner
                        .iter()
                        .map(|(key, value)| (format!("{field}.{key}"), value.clone())),
                ),
            }
        }
    }
    let mut listed = BTreeMap::new();
    for row in guide.table("| field | default | range | meaning |") {
        let field = code(row[0]).to_owned();
        let default = if field == "ladder" {
            assert_eq!(row[1], "1 to 33, 64, 128, 256");
            json!((1..=33).chain([64, 128, 256]).collect::<Vec<_>>())
        } else {
            serde_json::from_str(code(row[1])).unwrap()
        };
        listed.insert(field, default);
    }
    assert_eq!(listed, known);
}

#[test]
fn the_limits_are_those_of_the_program() {
    let guide = Guide::read("popper-laws");
    let rows = guide.table("| what | limit |");
    let limits: Vec<u64> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    let known = [
        MAX_RING,
        MAX_STEPS,
        MAX_ITEMS as u64,
        MAX_CASES,
        MAX_SYMBOLS as u64,
        MAX_RADIUS as u64,
    ];
    assert_eq!(limits[..known.len()], known);
}
