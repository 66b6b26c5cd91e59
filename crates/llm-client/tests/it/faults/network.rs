//! Rows 11 to 13 and 28 to 30: connections that fail, and ones that only look strange.

use llm_client::error::ConnectPhase;
use llm_client::{Budget, Usd};
use test_support::closed_port;

use super::*;

fn connect_error(error: &Error, wanted: ConnectPhase) -> bool {
    matches!(error.kind(), ErrorKind::Connect { phase, .. } if *phase == wanted)
}

/// The failure of a call to a host that never answers, and its attempts.
async fn unreachable(host: &str) -> Error {
    let provider = Wire::Anthropic.provider_at(host);
    let client = Client::builder(provider, Arc::new(skipping()))
        .build()
        .unwrap();
    client.complete(&request()).await.unwrap_err()
}

#[tokio::test]
async fn f11_a_refused_connection_is_tried_again() {
    let (address, _guard) = closed_port();
    let error = unreachable(&format!("http://{address}")).await;
    assert!(connect_error(&error, ConnectPhase::Connect), "{error:?}");
    assert_eq!(
        (error.attempts().len(), error.class().as_str()),
        (3, "network")
    );
    assert!(error.charged().is_none());
}

#[tokio::test]
async fn f11_a_name_that_does_not_exist_is_tried_again() {
    // No resolver asks the network for a label this long.
    let host = format!("https://{}.invalid", "a".repeat(64));
    let error = unreachable(&host).await;
    assert!(connect_error(&error, ConnectPhase::Connect), "{error:?}");
    assert_eq!(error.attempts().len(), 3);
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn f11_a_server_that_speaks_no_tls_is_tried_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("https://{}", listener.local_addr().unwrap());
    let nonsense = async {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 no\r\n\r\n")
                .await
                .unwrap();
        }
    };
    let error = tokio::select! {
        error = unreachable(&host) => error,
        () = nonsense => unreachable!(),
    };
    assert!(connect_error(&error, ConnectPhase::Connect), "{error:?}");
    assert_eq!(error.attempts().len(), 3);
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn f11_a_certificate_that_is_not_trusted_is_not_tried_again() {
    use std::io::Write as _;

    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;
    use rustls::sign::{CertifiedKey, SingleCertAndKey};

    let certificate = CertificateDer::from_pem_slice(include_bytes!("self_signed.pem")).unwrap();
    let key = CertifiedKey::new(vec![certificate], Arc::new(forger::Forger));
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(crypto)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(key)));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = format!("https://{}", listener.local_addr().unwrap());
    let config = Arc::new(config);
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut tls = rustls::ServerConnection::new(config).unwrap();
        // The client breaks the handshake off.
        let _ = rustls::Stream::new(&mut tls, &mut stream).write(b"x");
    });
    let error = unreachable(&host).await;
    assert!(connect_error(&error, ConnectPhase::Trust), "{error:?}");
    assert_eq!(error.attempts().len(), 1);
    server.join().unwrap();
}

/// Signs with nonsense: whom a client does not trust never gets to prove who it is.
#[cfg(feature = "tls")]
mod forger {
    use rustls::sign::{Signer, SigningKey};
    use rustls::{Error, SignatureAlgorithm, SignatureScheme};

    #[derive(Debug)]
    pub struct Forger;

    impl SigningKey for Forger {
        fn choose_scheme(&self, _: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
            Some(Box::new(Self))
        }

        fn algorithm(&self) -> SignatureAlgorithm {
            SignatureAlgorithm::ECDSA
        }
    }

    impl Signer for Forger {
        fn sign(&self, _: &[u8]) -> Result<Vec<u8>, Error> {
            Ok(vec![0; 70])
        }

        fn scheme(&self) -> SignatureScheme {
            SignatureScheme::ECDSA_NISTP256_SHA256
        }
    }
}

#[tokio::test]
async fn f12_a_reset_before_the_headers_is_tried_again() {
    for wire in BOTH {
        for broken in [Answer::raw().reset(), Answer::raw().close()] {
            let server = FaultServer::replies([broken, wire.whole(&hello())]);
            let client = wire.client(&server, &skipping()).build().unwrap();
            let reply = client.complete(&request()).await.unwrap();
            assert_eq!(reply.text(), "hello yourself");
            assert_eq!(reply.attempts.len(), 2, "{wire:?}");
            assert_eq!(
                reply.attempts[0].class.map(llm_client::ErrorClass::as_str),
                Some("network")
            );
            assert_eq!(server.requests().len(), 2);
        }
    }
}

#[tokio::test]
async fn f13_a_body_that_breaks_off_is_tried_again_and_may_have_been_billed() {
    let wire = Wire::Anthropic;
    let body = wire.json(&hello());
    let half = body[..body.len() / 2].to_owned();
    let head =
        || Answer::head(200, "application/json").header("content-length", &body.len().to_string());
    for broken in [
        head().bytes(half.clone()).reset(),
        head().bytes(half.clone()).close(),
        Answer::chunked(200, "application/json")
            .chunk(&half)
            .close(),
    ] {
        let server = FaultServer::replies([broken, wire.whole(&hello())]);
        let client = wire
            .client(&server, &skipping())
            .budget(Budget::default().usd(Some(Usd(1_000_000_000))))
            .build()
            .unwrap();
        let mut request = request();
        request.model = "claude-haiku-4-5".into();
        let reply = client.complete(&request).await.unwrap();
        assert_eq!(reply.attempts.len(), 2);
        assert_eq!(
            reply.attempts[0].class.map(llm_client::ErrorClass::as_str),
            Some("network")
        );
        let own = reply.cost.usd.unwrap();
        assert_eq!(own, Usd(10 * 1_000 + 5 * 5_000));
        let spent = client.spent();
        assert!(
            spent.usd > own,
            "the prompt of the first attempt counts: {spent:?}"
        );
        assert_eq!((spent.reserved, spent.calls), (Usd::ZERO, 1));
    }
}

#[tokio::test]
async fn f13_the_last_attempt_tells_that_the_body_broke_off() {
    for wire in BOTH {
        let broken = Answer::head(200, "application/json")
            .header("content-length", "999")
            .bytes("{")
            .close();
        let server = FaultServer::replies([broken]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let error = client.complete(&request()).await.unwrap_err();
        assert!(
            connect_error(&error, ConnectPhase::Body),
            "{wire:?} {error:?}"
        );
        assert_eq!(
            (error.attempts().len(), error.class().as_str()),
            (3, "network")
        );
        assert!(!error.charged().certain);
    }
}

/// `data` as a gzip file of one stored block.
fn gzip(data: &[u8]) -> Vec<u8> {
    let crc = !data.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    });
    let length = u16::try_from(data.len()).unwrap();
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    file.extend(length.to_le_bytes());
    file.extend((!length).to_le_bytes());
    file.extend(data);
    file.extend(crc.to_le_bytes());
    file.extend(u32::from(length).to_le_bytes());
    file
}

#[tokio::test]
async fn f28_every_lawful_form_of_a_reply_is_read() {
    for wire in BOTH {
        let body = wire.json(&hello());
        let head = "content-type: application/json\r\n";
        let zipped = Answer::whole(200, "application/json", gzip(body.as_bytes()))
            .header("content-encoding", "gzip");
        let trailers = Answer::chunked(200, "application/json")
            .chunk(&body[..20])
            .chunk(&body[20..])
            .end_with_trailers(&["x-checksum: 1"]);
        let length = body.len();
        let go_on = Answer::raw().bytes(format!(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n{head}content-length: {length}\r\n\r\n{body}"
        ));
        let old = Answer::raw()
            .bytes(format!("HTTP/1.0 200 OK\r\n{head}\r\n{body}"))
            .close();
        let dribbled = Answer::raw().dribble(format!(
            "HTTP/1.1 200 OK\r\n{head}content-length: {length}\r\n\r\n{body}"
        ));
        for (name, answer) in [
            ("gzip", zipped),
            ("trailers", trailers),
            ("100 Continue", go_on),
            ("HTTP/1.0", old),
            ("byte by byte", dribbled),
        ] {
            let server = FaultServer::replies([answer]);
            let client = wire.client(&server, &skipping()).build().unwrap();
            let reply = client.complete(&request()).await;
            let reply = reply.unwrap_or_else(|error| panic!("{wire:?} {name}: {error}"));
            assert_eq!(reply.text(), "hello yourself", "{wire:?} {name}");
            assert_eq!(reply.attempts.len(), 1, "{wire:?} {name}");
        }
    }
}

#[tokio::test]
async fn f29_a_redirect_is_an_error_and_the_other_host_sees_nothing() {
    for wire in BOTH {
        for status in [301, 302, 307, 308] {
            let other = FaultServer::replies([wire.whole(&hello())]);
            let answer = Answer::whole(status, "text/plain", "")
                .header("location", &other.url("/v1/messages"));
            let server = FaultServer::replies([answer]);
            let client = wire.client(&server, &skipping()).build().unwrap();
            let error = client.complete(&request()).await.unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Api { .. }),
                "{wire:?} {error:?}"
            );
            assert_eq!((error.status(), error.attempts().len()), (Some(status), 1));
            assert_eq!((other.accepted(), server.requests().len()), (0, 1));
        }
    }
}

#[tokio::test]
async fn f30_an_idle_connection_that_the_server_closed_costs_no_attempt() {
    for wire in BOTH {
        let answer = wire.whole(&hello());
        let server = FaultServer::replies([answer.clone().close(), answer]);
        let client = wire.client(&server, &skipping()).build().unwrap();
        let first = client.complete(&request()).await.unwrap();
        server.block_until_open(0);
        // The runtime looks at its sockets every 61 turns. A request written before it did would be one that broke.
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        let second = client.complete(&request()).await.unwrap();
        assert_eq!(
            (first.attempts.len(), second.attempts.len()),
            (1, 1),
            "{wire:?}"
        );
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{wire:?}");
        assert_ne!(requests[0].connection, requests[1].connection);
        assert_eq!(client.spent().calls, 2);
        assert_eq!(client.spent().tokens, 30);
    }
}

#[tokio::test]
async fn f30_a_connection_that_is_open_is_used_again() {
    let wire = Wire::Openai;
    let server = FaultServer::replies([wire.whole(&hello())]);
    let client = wire.client(&server, &skipping()).build().unwrap();
    for _ in 0..3 {
        client.complete(&request()).await.unwrap();
    }
    assert_eq!((server.accepted(), server.requests().len()), (1, 3));
}
