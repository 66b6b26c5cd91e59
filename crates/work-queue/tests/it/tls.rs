//! A server on the network: its certificate is checked, and a refusal is said at once.

use test_support::postgres::{self, TlsServer};
use work_queue::{Address, Queue, QueueError};

use crate::scene::{queue_options, within};

#[tokio::test]
async fn an_authority_is_trusted_where_the_address_names_it() {
    let Some(server) = postgres::tls_server() else {
        return;
    };
    let migrate = async |host: &str, parameters: &str| {
        let address = Address::parse(&server.url(host, parameters)).unwrap();
        within(Queue::migrate(&address, &queue_options())).await
    };
    let own = format!(
        "sslmode=verify-full&sslrootcert={}",
        server.authority().display()
    );
    migrate("localhost", &own).await.unwrap();
    let refusals = [
        ("localhost", "sslmode=verify-full", "UnknownIssuer"),
        ("127.0.0.1", &own, "not valid for name"),
        ("localhost", "sslmode=disable", "no encryption"),
    ];
    for (host, parameters, reason) in refusals {
        let error = migrate(host, parameters).await.unwrap_err();
        assert!(matches!(error, QueueError::Database { .. }), "{error:?}");
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains(reason), "{cause}");
        let shown = format!("{error} {error:?} {cause}");
        assert!(!shown.contains(TlsServer::PASSWORD), "{shown}");
    }
}
