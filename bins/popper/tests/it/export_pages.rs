//! `export` of a run whose rows take several pages, and one that cannot be written to its end.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::{Map, Value};
use test_support::program::signal;

use crate::grown::grow;
use crate::process::{Ran, fresh};
use crate::runs::Place;
use crate::sql;

/// More than two pages of laws; 58 iterations and calls, which are two pages of these.
const COPIES: usize = 2_300;

/// A run with copies of its laws, and the document before them.
fn long_run() -> (Place, Value) {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "2"]).code, Some(0));
    let before = place.popper(&["export"]).json();
    bin_support::block_on(grow(&place.db(), 0..COPIES, 40, false)).unwrap();
    (place, before)
}

/// The text of a document: one line for each row.
fn rendered(document: &Value) -> String {
    let head = ["schema_version", "run", "config"];
    let head = head.map(|name| format!("\"{name}\": {}", document[name]));
    let lists = ["iterations", "laws", "evaluations", "calls"].map(|name| {
        let rows = document[name].as_array().unwrap().iter();
        let rows: Vec<String> = rows.map(|row| format!("\n{row}")).collect();
        format!("\"{name}\": [{}]", rows.join(","))
    });
    format!("{{\n{},\n{}\n}}\n", head.join(",\n"), lists.join(",\n"))
}

fn ids(rows: &Value, key: &str) -> Vec<String> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row[key].to_string()).collect()
}

/// A row without its keys and names, which differ from copy to copy.
fn content(row: &Value) -> Map<String, Value> {
    let keys = [
        "id",
        "law_id",
        "law_fingerprint",
        "created_iteration_id",
        "law_row_id",
        "verdict",
    ];
    let mut row = row.as_object().unwrap().clone();
    row.retain(|key, _| !keys.contains(&key.as_str()));
    row
}

#[test]
fn every_row_of_a_long_run_is_there_once_in_order() {
    let (place, before) = long_run();
    let ran = place.popper(&["export"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = ran.json();
    assert!(ran.stdout == rendered(&document));
    for (list, table) in [
        ("iterations", "iterations"),
        ("laws", "laws"),
        ("evaluations", "law_evaluations"),
        ("calls", "llm_calls"),
    ] {
        let all = sql::column(&place.db(), &format!("SELECT id FROM {table} ORDER BY id"));
        assert!(all.len() > 55, "{table}");
        assert!(ids(&document[list], "id") == all, "{table}");
    }
    // A copy has what the law has that it copies, and its verdict.
    let of_law = |document: &Value| -> BTreeMap<i64, Map<String, Value>> {
        let made = document["evaluations"].as_array().unwrap().iter();
        made.map(|made| (made["law_row_id"].as_i64().unwrap(), content(made)))
            .collect()
    };
    let (old, new) = (of_law(&before), of_law(&document));
    let laws = before["laws"].as_array().unwrap().iter();
    let tested: Vec<&Value> = laws.filter(|law| law.get("verdict").is_some()).collect();
    let all = document["laws"].as_array().unwrap();
    let begin = before["laws"].as_array().unwrap().len();
    assert_eq!(all.len(), begin + COPIES);
    assert_eq!(&all[..begin], before["laws"].as_array().unwrap().as_slice());
    for (index, law) in all[begin..].iter().enumerate() {
        let like = tested[index % tested.len()];
        assert_eq!(content(law), content(like), "{index}");
        let (id, like) = (law["id"].as_i64(), like["id"].as_i64());
        assert_eq!(new[&id.unwrap()], old[&like.unwrap()], "{index}");
        let made = &document["evaluations"][old.len() + index];
        assert_eq!(law["verdict"]["evaluation_id"], made["id"], "{index}");
    }

    // A file has the same bytes, and a table a line for each law.
    let ran = place.popper(&["export", "-o", "out.json"]);
    let (laws, attempts) = (all.len(), new.len());
    let told = format!("{laws} laws and {attempts} attempts in out.json");
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    assert!(fs::read_to_string(place.path().join("out.json")).unwrap() == rendered(&document));
    let ran = place.popper(&["export", "-o", "out.csv"]);
    let told = format!("{laws} laws and {attempts} attempts in out.csv");
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    let sheet = fs::read_to_string(place.path().join("out.csv")).unwrap();
    let names = sheet.lines().skip(1).map(|line| line.split(',').next());
    let names: Vec<String> = names.map(|name| name.unwrap().to_owned()).collect();
    assert!(names == ids(&document["laws"], "id"));
}

#[test]
fn verdicts_of_another_run_follow_in_the_order_of_the_laws() {
    let (place, _) = long_run();
    let new = place.run(&["--iterations", "1", "--new-run"]);
    assert_eq!(new.code, Some(0), "{}", new.stderr);
    bin_support::block_on(grow(&place.db(), 0..COPIES, 100, true)).unwrap();
    let ran = place.popper(&["export"]);
    let document = ran.json();
    assert!(ran.stdout == rendered(&document));
    let made = document["evaluations"].as_array().unwrap();
    let (own, known): (Vec<&Value>, Vec<&Value>) =
        made.iter().partition(|made| made["run_id"] == 2);
    assert!(known.len() > COPIES);
    assert_eq!(made[..own.len()].iter().collect::<Vec<_>>(), own);
    let laws = document["laws"].as_array().unwrap().iter();
    let elsewhere = laws.filter(|law| law["verdict"]["run_id"] == 1);
    let elsewhere: Vec<&Value> = elsewhere.map(|law| &law["id"]).collect();
    let known: Vec<&Value> = known.iter().map(|made| &made["law_row_id"]).collect();
    assert_eq!(known, elsewhere);
}

/// The names in the folder of a place that are those of a draft.
fn drafts(place: &Place) -> usize {
    let names = fs::read_dir(place.path()).unwrap().flatten();
    let names = names.filter(|entry| entry.file_name().to_string_lossy().contains(".part"));
    names.count()
}

#[test]
fn an_export_that_does_not_end_leaves_the_old_file_whole() {
    let (place, _) = long_run();
    let path = place.path().join("out.json");
    fs::write(&path, "something older").unwrap();
    // The disk is full: no file may have more than some kilobytes.
    let program = env!("CARGO_BIN_EXE_popper");
    let line = format!("ulimit -f 2000; exec '{program}' export 1 --db popper.db -o out.json");
    let ran = Command::new("sh")
        .args(["-c", &line])
        .current_dir(place.path())
        .output();
    let ran: Ran = ran.unwrap().into();
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let told = "popper: cannot write ";
    assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert_eq!(
        (fs::read_to_string(&path).unwrap().as_str(), drafts(&place)),
        ("something older", 0)
    );

    // A person changes the mind.
    let export = ["export", "1", "--db", "popper.db", "-o", "out.json"];
    let mut child = fresh(place.path(), &export).spawn().unwrap();
    while drafts(&place) == 0 {
        assert!(child.try_wait().unwrap().is_none());
    }
    signal(child.id(), "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(
        (fs::read_to_string(&path).unwrap().as_str(), drafts(&place)),
        ("something older", 0)
    );

    // A row that cannot be read, behind pages that can.
    let damage = "UPDATE law_evaluations SET evidence_json = '{' WHERE id = 2000";
    sql::column(&place.db(), damage);
    let ran = place.popper(&["export", "1", "-o", "out.json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("law_evaluations 2000: column evidence_json"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        (fs::read_to_string(&path).unwrap().as_str(), drafts(&place)),
        ("something older", 0)
    );
}

#[test]
fn a_reader_that_leaves_ends_the_export_in_silence() {
    let (place, _) = long_run();
    for format in ["json", "csv"] {
        let export = ["export", "1", "--db", "popper.db", "--format", format];
        let mut child = fresh(place.path(), &export)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut begin = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut begin).unwrap();
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{format}");
    }
}
