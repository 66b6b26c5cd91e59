//! `popper check` with workers: the bytes of a check without them, also after a kill.

use std::fs;

use serde_json::{Value, json};

use super::scene::{Fleet, until};
use crate::kill::place;
use crate::process::law;

/// Counts the laws of all jobs that are ever made.
const COUNT_LAWS: &str = "CREATE TABLE public.made (laws BIGINT);
    CREATE FUNCTION public.count_laws() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN INSERT INTO public.made
            VALUES (json_array_length(convert_from(NEW.input, 'UTF8')::json -> 'laws')); RETURN NEW; END $$;
    CREATE TRIGGER count_laws AFTER INSERT ON work_queue.work FOR EACH ROW EXECUTE FUNCTION public.count_laws()";

const MADE: &str = "SELECT sum(laws)::bigint FROM public.made";

/// Laws that differ, some true and some false.
fn laws(count: usize) -> Value {
    let law = |index: usize| {
        let mut law = law(&format!("law_{index}"));
        law["observables"] =
            json!([{"name": "r", "expr": format!("count('>') + {index} * count('X')")}]);
        law
    };
    (0..count).map(law).collect()
}

/// A fleet whose folder has a file with laws.
fn fleet(laws: &Value) -> Option<Fleet> {
    let fleet = Fleet::new(place(20))?;
    fleet.migrate();
    fs::write(fleet.place.path().join("laws.json"), laws.to_string()).unwrap();
    Some(fleet)
}

/// The verdicts of a check without their runtimes, as text.
fn verdicts(stdout: &str) -> String {
    let mut verdicts: Value = serde_json::from_str(stdout).unwrap();
    for verdict in verdicts.as_array_mut().unwrap() {
        verdict["runtime_ms"] = 0.into();
    }
    verdicts.to_string()
}

const CHECK: &str = "check laws.json --config config.json --json";

#[test]
fn workers_change_no_byte() {
    // Some laws twice, under the same name and under another one.
    let mut all = laws(30);
    let all = all.as_array_mut().unwrap();
    all.push(all[3].clone());
    let mut renamed = all[4].clone();
    renamed["law_id"] = "another name".into();
    all.push(renamed);
    for file in ["true", "false", "unknown"] {
        let text = fs::read_to_string(test_support::fixture(format!("popper/laws/{file}.json")));
        all.extend(serde_json::from_str::<Vec<Value>>(&text.unwrap()).unwrap());
    }
    let Some(fleet) = fleet(&json!(all)) else {
        return;
    };
    let expected = fleet.start(CHECK).end().exits(3);
    let worker = fleet.worker("w");
    fleet.reaches("SELECT count(*) FROM work_queue.workers", 1);
    for threads in ["--threads 0", "--threads 2 --audit 100"] {
        let ran = fleet
            .popper(&format!("{CHECK} {threads} --lease 1s"))
            .end()
            .exits(3);
        assert!(
            verdicts(&ran.stdout) == verdicts(&expected.stdout),
            "{threads}"
        );
        assert_eq!(ran.stderr, expected.stderr);
        let table = CHECK.replace(" --json", "");
        let ran = fleet
            .popper(&format!("{table} {threads} --lease 1s"))
            .end()
            .exits(3);
        assert_eq!(ran.stdout, fleet.start(&table).end().exits(3).stdout);
    }
    worker.signal("-TERM");
    worker.end().exits(130);
    assert_eq!(fleet.number("SELECT count(*) FROM work_queue.work"), 0);
}

#[test]
fn a_check_that_is_killed_makes_only_what_is_missing() {
    killed(300, 1);
}

#[test]
#[ignore = "long: a hundred thousand laws"]
fn a_hundred_thousand_laws_are_in_one_job_each() {
    killed(100_000, 30);
}

/// Kills a check after some results, and starts it again.
fn killed(count: usize, results: i64) {
    let Some(fleet) = fleet(&laws(count)) else {
        return;
    };
    fleet.execute(COUNT_LAWS);
    let worker = fleet.worker("w");
    let check = format!("{CHECK} --threads 0 --lease 1s");
    let first = fleet.popper(&check);
    let enough = format!("SELECT (count(*) >= {results})::int::bigint FROM work_queue.results");
    fleet.reaches(&enough, 1);
    first.kill();
    let known = "SELECT count(*) FROM work_queue.results";
    assert!(fleet.number(known) >= results);

    let expected = fleet.start(CHECK).end().exits(0);
    let again = fleet.popper(&check);
    let again = again.end().exits(0);
    assert!(verdicts(&again.stdout) == verdicts(&expected.stdout));
    // No law is in two jobs.
    assert_eq!(fleet.number(MADE), count as i64);
    worker.signal("-TERM");
    worker.end().exits(130);
    assert_eq!(fleet.number("SELECT count(*) FROM work_queue.work"), 0);
}

#[test]
fn an_interrupted_check_says_what_is_left() {
    let Some(fleet) = fleet(&laws(20)) else {
        return;
    };
    let check = fleet.popper(&format!("{CHECK} --threads 0 --lease 1s"));
    fleet.reaches("SELECT sign(count(*))::bigint FROM work_queue.work", 1);
    check.signal("-INT");
    check
        .end()
        .exits(130)
        .tells(&["interrupted: 20 laws are not decided"]);

    let mut check = fleet.popper(&format!("{CHECK} --threads 0 --lease 1s"));
    // Those that it makes after a deletion are deleted, too.
    until("the end of a check without jobs", || {
        fleet.execute("DELETE FROM graphile_worker._private_jobs; DELETE FROM work_queue.work");
        check.has_ended()
    });
    check
        .end()
        .exits(1)
        .tells(&["jobs were deleted by another program"]);
}
