//! Addresses: what they accept, and that no password is shown.

use test_support::postgres::{self, Database};
use work_queue::{Address, Queue, QueueError};

use crate::scene::{queue_options, within};

const SECRET: &str = "hunter2-p%40ss";

#[test]
fn an_address_shows_no_password() {
    let text = format!("postgres://ada:{SECRET}@db.example.org:6000/laws?sslmode=require");
    let address = Address::parse(&text).unwrap();
    assert_eq!(
        address.to_string(),
        "postgres://ada@db.example.org:6000/laws"
    );
    assert_eq!(
        format!("{address:?}"),
        "Address(postgres://ada@db.example.org:6000/laws)"
    );
    assert!(address.has_password());
    let by_parameter =
        Address::parse(&format!("postgres://ada@localhost/laws?password={SECRET}")).unwrap();
    assert!(by_parameter.has_password() && !by_parameter.to_string().contains("hunter2"));
    assert!(
        !Address::parse("postgres://ada@localhost/laws")
            .unwrap()
            .has_password()
    );
    let socket = Address::parse("postgresql://ada@localhost/laws?host=/run/pg&port=1").unwrap();
    assert_eq!(socket.to_string(), "postgres://ada@/run/pg:1/laws");
}

#[test]
fn an_address_that_is_wrong_is_not_repeated() {
    for text in [
        format!("ada:{SECRET}"),
        format!("mysql://ada:{SECRET}@host/laws"),
        format!("postgres://ada:{SECRET}@host:port/laws"),
        format!("postgres://ada:{SECRET}@host/laws?sslmode=hunter2"),
        format!("postgres://ada@host/laws?pasword={SECRET}"),
        format!("postgres://ada:{SECRET}@host/laws?port=hunter2"),
        // A password that should have been escaped would be a database, a parameter or a fragment.
        "postgres://ada:1/hunter2@host/laws".to_owned(),
        "postgres://ada:1?hunter2@host/laws".to_owned(),
        "postgres://ada:1#hunter2@host/laws".to_owned(),
    ] {
        let error = Address::parse(&text).unwrap_err();
        assert!(matches!(error, QueueError::Address { .. }), "{error:?}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

/// A host that is not this machine is verified, unless the address says otherwise.
#[test]
fn a_far_host_is_verified() {
    let mode = |text: &str| {
        let options = Address::parse(text).unwrap().options("test");
        format!("{:?}", options.get_ssl_mode())
    };
    assert_eq!(mode("postgres://a@db.example.org/b"), "VerifyFull");
    assert_eq!(mode("postgres://a@192.0.2.1/b"), "VerifyFull");
    assert_eq!(
        mode("postgres://a@db.example.org/b?sslmode=disable"),
        "Disable"
    );
    for near in [
        "localhost",
        "127.0.0.1",
        "[::1]",
        "db.example.org/b?host=/run/pg&dbname=",
    ] {
        assert_eq!(mode(&format!("postgres://a@{near}/b")), "Prefer", "{near}");
    }
}

#[test]
fn an_ipv6_address_has_brackets_only_in_the_text() {
    let address = Address::parse("postgres://a@[2001:db8::1]:5433/b").unwrap();
    assert_eq!(address.options("test").get_host(), "2001:db8::1");
    assert_eq!(address.to_string(), "postgres://a@[2001:db8::1]:5433/b");
}

/// A password that is not escaped may end up anywhere in the address.
#[test]
fn no_part_of_a_broken_address_is_shown() {
    for text in [
        "postgres://a@h/b&password=hunter2",
        "postgres://a@h/b?hunter2",
        "postgres://a@h/b:hunter2",
        "postgres://a@h/b?hunter2=1",
    ] {
        let error = Address::parse(text).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_not_shown() {
    let Some(mut server) = postgres::server() else {
        return;
    };
    Database::query(
        &server.url(),
        "SELECT count(set_config('log_statement', 'none', false))",
    );
    let rules = server.socket_folder().join("data/pg_hba.conf");
    let trust = std::fs::read(&rules).unwrap();
    std::fs::write(&rules, "local all all scram-sha-256\n").unwrap();
    server.restart();
    let url = server
        .url()
        .replacen("postgres@", &format!("postgres:{SECRET}@"), 1);
    let address = Address::parse(&url).unwrap();
    let error = within(Queue::open(&address, &queue_options()))
        .await
        .unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        cause.contains("password authentication failed for user \"postgres\""),
        "{cause}"
    );
    let shown = format!("{error} {error:?} {cause}");
    assert!(!shown.contains("hunter2"), "{shown}");
    std::fs::write(&rules, trust).unwrap();
}
