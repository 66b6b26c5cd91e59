//! Roles with the rights that `docs/many-machines.md` gives: a worker that reads no law, a reader that writes nothing.

use test_support::{Guide, postgres};

use super::scene::{Expected, Fleet, Process};
use crate::kill::place;

/// The tables of all schemas, for the owner.
const TABLES: &str = "SELECT schemaname || '.' || tablename FROM pg_tables
    WHERE schemaname IN ('popper', 'work_queue', 'graphile_worker')";

/// A command as another role.
fn popper_as(fleet: &Fleet, role: &str, line: &str) -> Process {
    let url = address(fleet, role);
    fleet.start(&format!("{line} --store {url}"))
}

fn address(fleet: &Fleet, role: &str) -> String {
    fleet.url.replacen("postgres@", &format!("{role}@"), 1)
}

/// The tables of some schemas on which a role has one of some rights.
fn allowed(fleet: &Fleet, role: &str, rights: &str, schemas: &str) -> i64 {
    fleet.number(&format!(
        "SELECT count(*) FROM ({TABLES} AND schemaname = ANY ('{{{schemas}}}')) t (name)
            WHERE has_table_privilege('{role}', name, '{rights}')"
    ))
}

/// An owner who may not create roles: an administrator makes the group of the workers afterwards.
#[test]
fn an_administrator_makes_the_group_of_workers() {
    let Some(server) = postgres::server() else {
        return;
    };
    let fleet = Fleet::on(&server, place(20));
    fleet.execute(&format!(
        "CREATE ROLE plain LOGIN; ALTER DATABASE {} OWNER TO plain",
        fleet.name()
    ));
    let run = "run --config config.json --proposer enumerative --lease 1s --patience 100s";
    let begin = format!("{run} --iterations 1 --threads 1");
    popper_as(&fleet, "plain", &begin).end().exits(0);
    let guide = Guide::read("many-machines");
    let roles = guide.section("Give workers and readers few rights");
    let [roles, group] = roles.blocks("sql")[..] else {
        panic!("the section has two blocks of statements");
    };
    fleet.execute(group);
    fleet.execute(roles);
    let line = "worker --threads 1 --name w --lease 1s --patience 100s";
    let worker = popper_as(&fleet, "popper_worker", line);
    let rest = format!("{run} --iterations 2 --threads 0");
    popper_as(&fleet, "plain", &rest).end().exits(0);
    worker.signal("-TERM");
    let ended = worker.end().exits(130);
    assert!(!ended.stderr.contains("after 0 jobs"), "{}", ended.stderr);
}

#[test]
fn a_worker_reads_no_law_and_a_reader_writes_nothing() {
    // Roles belong to a whole server.
    let Some(server) = postgres::server() else {
        return;
    };
    let fleet = Fleet::on(&server, place(20));
    let expected = Expected::new(&place(20), 3, 1);
    fleet.run("--iterations 1 --threads 1").end().exits(0);
    let guide = Guide::read("many-machines");
    let roles = guide.section("Give workers and readers few rights");
    fleet.execute(roles.blocks("sql")[0]);
    let all = "SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER";
    let writing = "INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER";
    assert_eq!(allowed(&fleet, "popper_worker", all, "popper"), 0);
    assert_eq!(allowed(&fleet, "popper_reader", "SELECT", "popper"), 12);
    let everything = "popper,work_queue,graphile_worker";
    assert_eq!(allowed(&fleet, "popper_reader", writing, everything), 0);
    for role in ["popper_worker", "popper_reader"] {
        let creates = format!(
            "SELECT count(*) FROM pg_namespace WHERE nspname IN ('popper', 'work_queue', 'graphile_worker', 'public')
                AND has_schema_privilege('{role}', oid, 'CREATE')"
        );
        assert_eq!(fleet.number(&creates), 0, "{role}");
    }

    // The worker serves a run that has no other.
    let worker = popper_as(
        &fleet,
        "popper_worker",
        "worker --threads 2 --name w --lease 1s --patience 100s",
    );
    worker.says("it computes");
    fleet.run("--iterations 3 --threads 0").end().exits(0);
    worker.signal("-TERM");
    let ended = worker.end().exits(130);
    assert!(!ended.stderr.contains("after 0 jobs"), "{}", ended.stderr);
    for line in ["status", "export", "report"] {
        let ran = popper_as(&fleet, "popper_worker", line).end().exits(1);
        ran.tells(&["permission denied for schema popper"]);
    }

    for line in ["status", "status --json", "report"] {
        popper_as(&fleet, "popper_reader", line).end().exits(0);
    }
    let read = popper_as(&fleet, "popper_reader", "export").end().exits(0);
    let own = fleet.popper("export").end().exits(0);
    assert!(read.stdout == own.stdout, "a reader reads everything");
    for line in [
        "run --config config.json --proposer enumerative --iterations 4",
        "resume --run-id 1 --iterations 4",
        "worker --drain",
    ] {
        let ran = popper_as(&fleet, "popper_reader", line).end().exits(1);
        ran.tells(&["permission denied"]);
    }
    expected.assert_same(&fleet, "roles");
}
