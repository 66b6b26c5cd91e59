//! TLS for clients of other crates.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::ConfigError;

/// Sets ring as the crypto provider of the process, unless it has one. Never fails.
///
/// This crate compiles `reqwest` without a provider, and cargo unites features: a client that another crate builds with
/// `reqwest` panics without one. [`crate::provider::HttpTransport::new`] calls this function. A program that builds such a client
/// earlier calls it first.
pub fn install_default() {
    // An error says that there is a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A TLS configuration on ring with the platform's trust store and `extra_roots` (PEM), for other HTTP clients.
///
/// On a machine without a trust store https requests fail, and http on loopback works.
///
/// # Errors
/// A certificate that cannot be read.
pub fn config(extra_roots: &[Vec<u8>]) -> Result<ClientConfig, ConfigError> {
    let roots = certificates(extra_roots)?;
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(crypto.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| ConfigError::Transport {
            why: error.to_string(),
        })?;
    let mut config = if let Ok(verifier) = Verifier::new_with_extra_roots(roots.clone(), crypto) {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth()
    } else {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(roots);
        builder.with_root_certificates(store).with_no_client_auth()
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The certificates of texts in PEM, at least one in each.
pub(super) fn certificates(
    extra_roots: &[Vec<u8>],
) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let wrong = |why: String| ConfigError::setting("extra roots", why);
    let mut roots = Vec::new();
    for pem in extra_roots {
        let before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            roots.push(certificate.map_err(|error| wrong(error.to_string()))?);
        }
        if roots.len() == before {
            return Err(wrong("expected at least one certificate in PEM".to_owned()));
        }
    }
    Ok(roots)
}
