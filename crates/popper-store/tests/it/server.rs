//! Servers that cannot be used: absent, foreign, newer, without rights, of another encoding, full.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::time::Duration;

use popper_discovery::store::{RunRow, Store as _, StoreError};
use popper_store::{Access, Address, Server};
use test_support::postgres::{self, TlsServer};

use crate::faults::{skipped, small_disk};
use crate::made;
use crate::place::{self, Place as _};

const ALL: [Access; 3] = [Access::Write, Access::WriteExisting, Access::Read];

async fn refused(url: &str, access: Access) -> StoreError {
    let address = Address::parse(url).unwrap();
    let error = Server::open(&address, "test", access).await.unwrap_err();
    let place = address.to_string();
    assert!(error.to_string().starts_with(&place), "{error}");
    error
}

#[tokio::test]
async fn tables_that_are_missing_are_made_only_for_writing() {
    let Some(place) = place::server() else { return };
    let other = place.url().replace(place.name(), "no_such_database");
    for access in ALL {
        let error = refused(&other, access).await;
        assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
        assert!(
            error
                .to_string()
                .ends_with("create it, for example with `createdb`")
        );
    }
    for access in [Access::Read, Access::WriteExisting] {
        let error = refused(place.url(), access).await;
        assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    }
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'popper'";
    assert_eq!(place.number(schemas).await, 0);
    place.open(Access::Write).await.close().await.unwrap();
    let mut again = place.open(Access::WriteExisting).await;
    assert!(again.runs().await.unwrap().is_empty());
}

#[tokio::test]
async fn processes_that_make_the_tables_at_once_all_succeed() {
    let Some(place) = place::server() else { return };
    let opened = (0..8).map(|number| {
        let address = place.address();
        tokio::spawn(async move {
            let name = format!("process {number}");
            let mut store = Server::open(&address, &name, Access::Write).await.unwrap();
            store.create_run(&made::run()).await.unwrap()
        })
    });
    let ids = futures_util::future::join_all(opened).await;
    let mut ids: Vec<i64> = ids.into_iter().map(Result::unwrap).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7, 8]);
    let migrations = "SELECT count(*) FROM popper._sqlx_migrations";
    assert_eq!(place.number(migrations).await, 3);
    let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' \
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    assert_eq!(place.number(locks).await, 0);
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_not_touched() {
    let Some(place) = place::server() else { return };
    place.open(Access::Write).await.close().await.unwrap();
    place
        .run("UPDATE popper.schema_version SET version = 7")
        .await;
    for access in ALL {
        let error = refused(place.url(), access).await;
        let is_newer = matches!(
            error,
            StoreError::Newer {
                found: 7,
                known: 3,
                ..
            }
        );
        assert!(is_newer, "{error:?}");
    }
    let version = "SELECT version FROM popper.schema_version";
    assert_eq!(place.number(version).await, 7);
}

#[tokio::test]
async fn an_encoding_that_cannot_hold_every_text_is_refused() {
    let Some(place) = place::server() else { return };
    let name = format!("{}_ascii", place.name());
    let create = format!("CREATE DATABASE {name} ENCODING 'SQL_ASCII' TEMPLATE template0");
    place.run(&create).await;
    let url = place.url().replace(place.name(), &name);
    for access in ALL {
        let error = refused(&url, access).await;
        assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
        let expected = "the encoding of the database is SQL_ASCII, needed is UTF8";
        assert!(error.to_string().ends_with(expected), "{error}");
    }
    place.run(&format!("DROP DATABASE {name} (FORCE)")).await;
}

#[tokio::test]
async fn a_reader_changes_nothing() {
    let Some(place) = place::server() else { return };
    let mut writer = place.open(Access::Write).await;
    let laws = made::queue(&mut writer, 6).await;
    let mut reader = place.open(Access::Read).await;
    writer.commit(&made::decisions(&laws)).await.unwrap();
    let run = RunRow {
        id: 1,
        ..made::run()
    };
    for _ in 0..2 {
        assert_eq!(reader.tally(&run).await.unwrap().evaluations, 6);
        let error = reader.create_run(&run).await.unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    }
    assert_eq!(writer.runs().await.unwrap().len(), 1);
}

#[tokio::test]
async fn rights_and_passwords_are_missed_in_one_line_without_the_password() {
    let Some(server) = postgres::server() else {
        return;
    };
    let place = place::on(&server);
    place
        .run(
            "CREATE ROLE guarded LOGIN PASSWORD 'the-secret'; CREATE ROLE poor LOGIN; \
             CREATE ROLE one LOGIN; CREATE ROLE two LOGIN",
        )
        .await;
    let rules = server.socket_folder().join("data/pg_hba.conf");
    let others = fs::read_to_string(&rules).unwrap();
    let guard = "local all guarded scram-sha-256\n".to_owned();
    fs::write(&rules, guard + &others).unwrap();
    // A connection that began after the reload has a later time.
    let loaded = "SELECT (extract(epoch FROM pg_conf_load_time()) * 1000000)::bigint";
    let before = place.number(loaded).await;
    place.run("SELECT pg_reload_conf()").await;
    while place.number(loaded).await == before {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let of = |user: &str| {
        let url = place.url().replacen("postgres@", &format!("{user}@"), 1);
        assert_ne!(url, place.url());
        url
    };
    let said = |error: &StoreError, expected: &str| {
        assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
        assert!(error.to_string().ends_with(expected), "{error}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("secret"), "{shown}");
    };
    let wrong = "password authentication failed for user \"guarded\"";
    for access in ALL {
        for user in ["guarded:another-secret", "guarded"] {
            said(&refused(&of(user), access).await, wrong);
        }
    }
    // Rights on the database, then on the tables.
    let access = Access::Write;
    let denied = format!("permission denied for database {}", place.name());
    said(&refused(&of("poor"), access).await, &denied);
    place.open(Access::Write).await.close().await.unwrap();
    for access in ALL {
        let denied = "permission denied for schema popper";
        said(&refused(&of("poor"), access).await, denied);
    }
    // A schema that was made for a role is enough.
    let second = place::on(&server);
    second.run("CREATE SCHEMA popper AUTHORIZATION poor").await;
    let address = second.url().replacen("postgres@", "poor@", 1);
    let address = Address::parse(&address).unwrap();
    let mut owner = Server::open(&address, "test", Access::Write).await.unwrap();
    assert_eq!(owner.create_run(&made::run()).await.unwrap(), 1);
    place
        .run(
            "GRANT USAGE ON SCHEMA popper TO guarded, one, two; \
             GRANT SELECT ON ALL TABLES IN SCHEMA popper TO guarded, one, two",
        )
        .await;
    let address = Address::parse(&of("guarded:the-secret")).unwrap();
    let mut guarded = Server::open(&address, "test", Access::WriteExisting)
        .await
        .unwrap();
    assert!(guarded.runs().await.unwrap().is_empty());
    let shown = format!("{guarded:?}");
    assert!(!shown.contains("secret"), "{shown}");
    let error = guarded.create_run(&made::run()).await.unwrap_err();
    said(&error, "permission denied for sequence runs_id_seq");
    // A role that may not see where another comes from still learns its name.
    let mut coordinators = Vec::new();
    for user in ["one", "two"] {
        let address = Address::parse(&of(user)).unwrap();
        let store = Server::open(&address, "a run", Access::Read).await;
        coordinators.push(store.unwrap());
    }
    coordinators[0].lock("a", "b").await.unwrap();
    let error = coordinators[1].lock("a", "b").await.unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert!(error.to_string().contains(" (a run, session "), "{error}");
}

#[tokio::test]
async fn a_certificate_is_checked_and_its_refusal_is_no_loss() {
    let Some(server) = postgres::tls_server() else {
        return;
    };
    let own = format!("sslrootcert={}", server.authority().display());
    let full = format!("sslmode=verify-full&{own}");
    let address = Address::parse(&server.url("localhost", &full)).unwrap();
    Server::open(&address, "test", Access::Write).await.unwrap();
    for (host, parameters, reason) in [
        ("localhost", "sslmode=verify-full", "UnknownIssuer"),
        ("127.0.0.1", &full, "not valid for name"),
    ] {
        let error = refused(&server.url(host, parameters), Access::Write).await;
        assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(TlsServer::PASSWORD), "{shown}");
    }
}

#[tokio::test]
async fn a_full_disk_of_the_server_takes_the_same_commit_later() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_unmount) = small_disk(folder.path(), "size=3m") else {
        return skipped("no right to mount a small disk");
    };
    let Some(server) = postgres::server() else {
        return;
    };
    let owner = server.socket_folder().metadata().unwrap();
    chown(folder.path(), Some(owner.uid()), Some(owner.gid())).unwrap();
    let ballast = folder.path().join("ballast");
    let place = place::on(&server);
    let mut store = place.open(Access::Write).await;
    let space = format!(
        "CREATE TABLESPACE small LOCATION '{}'",
        folder.path().display()
    );
    place.run(&space).await;
    fs::write(&ballast, vec![1; 1 << 20]).unwrap();
    place
        .run("ALTER TABLE popper.law_evaluations SET TABLESPACE small")
        .await;
    let laws = made::queue(&mut store, 150).await;
    let mut committed = 0;
    let (error, group) = 'full: {
        for seed in 0..100 {
            let fail = popper_harness::decide::Status::Fail;
            let group = laws.iter().map(|law| made::decision(law, seed, fail));
            let group: Vec<_> = group.collect();
            match store.commit(&group).await {
                Ok(()) => committed += 150,
                Err(error) => break 'full (error, group),
            }
        }
        panic!("the disk does not fill up");
    };
    assert!(committed > 0);
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    let again = store.commit(&group).await.unwrap_err();
    assert!(matches!(again, StoreError::Full { .. }), "{again:?}");
    assert_eq!(place.sound_counts().await[..2], [committed, committed]);
    fs::remove_file(&ballast).unwrap();
    store.commit(&group).await.unwrap();
    committed += 150;
    assert_eq!(place.sound_counts().await[..2], [committed, committed]);
    // The server writes to its disk until it is gone.
    drop(store);
    drop(place);
    drop(server);
}
