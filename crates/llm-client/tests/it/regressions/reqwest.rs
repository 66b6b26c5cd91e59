//! A second user of `reqwest` in the same program.

use llm_client::provider::{HttpOptions, HttpTransport};
use llm_client::tls;
use rustls::crypto::CryptoProvider;

/// Without a provider this panics. An error can only be about the certificates of the machine.
fn build_another_client() {
    assert!(CryptoProvider::get_default().is_some());
    if let Err(error) = reqwest::Client::builder().build() {
        let shown = format!("{error:?}");
        assert!(!shown.to_lowercase().contains("provider"), "{shown}");
    }
}

#[test]
fn a_plain_client_can_be_built_after_the_default_is_installed() {
    tls::install_default();
    build_another_client();
    // A program may call it as often as it likes.
    tls::install_default();
    build_another_client();
}

#[test]
fn a_plain_client_can_be_built_after_a_transport() {
    HttpTransport::new(&HttpOptions::default()).unwrap();
    build_another_client();
}
