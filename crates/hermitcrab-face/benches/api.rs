//! The time for a page to read and write a block of 10,000 nodes: through the server, onto the disk.
//!
//! `cargo bench -p orrery-hermitcrab-face --bench api`; the limits of the specification are in docs/benchmarks.md.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::future::ready;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use hermitcrab_face::{FaceConfig, FaceServer, NoKeys, WebHost};
use hermitcrab_kernel::{Kernel, OfflineBrain};
use pscale_blocks::{Block, BlockName, BlockStore as _, DirStore, EditAuthor, Path, Stamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const NODES: usize = 10_000;

/// A block whose nodes stand on four levels below the head.
fn block() -> Block {
    let mut block = Block::new("Ten thousand tides.");
    let mut paths = vec!["0".to_owned()];
    let mut at = 0;
    while paths.len() < NODES {
        let parent = paths[at].clone();
        at += 1;
        for digit in 1..=9 {
            let path = format!("{parent}.{digit}");
            let text = format!("The tide of day {} was high.", paths.len());
            block.write(&path.parse::<Path>().unwrap(), &text).unwrap();
            paths.push(path);
        }
    }
    block
}

/// A page's connection, which stays open.
struct Client {
    stream: BufReader<TcpStream>,
    addr: SocketAddr,
    tokens: String,
}

impl Client {
    fn ask(&mut self, line: &str, headers: &str, body: &str) -> (String, Vec<u8>) {
        let Self { addr, tokens, .. } = self;
        let length = body.len();
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {addr}\r\nOrigin: http://{addr}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{tokens}{headers}\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.stream.read_line(&mut head).unwrap() > 0, "closed");
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let length = value(&head, "content-length: ").parse().unwrap();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (head, body)
    }
}

fn value<'a>(head: &'a str, name: &str) -> &'a str {
    head.lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap()
}

fn api_10k(bench: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let folder = TempDir::new().unwrap();
    let store = Arc::new(DirStore::open(folder.path()).unwrap());
    let stamp = Stamp::new("2026-11-22T00:00:00Z".parse().unwrap(), EditAuthor::Kernel);
    let name = BlockName::new("tides").unwrap();
    store.create(&name, &block(), &stamp).unwrap();
    let host = WebHost::default();
    let cancel = CancellationToken::new();
    let (addr, once, server) = runtime.block_on(async {
        let kernel = Kernel::builder(store, Arc::new(OfflineBrain))
            .host(Arc::new(host.clone()))
            .open();
        let mut config = FaceConfig::default();
        "bench".clone_into(&mut config.version);
        let server = FaceServer::bind(kernel.unwrap(), host, Arc::new(NoKeys), config);
        let server = server.await.unwrap();
        let (addr, url) = (server.addr(), server.url());
        let once = url.split_once('#').unwrap().1.to_owned();
        (
            addr,
            once,
            tokio::spawn(server.run(cancel.clone(), ready(None))),
        )
    });
    let stream = TcpStream::connect(addr).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut client = Client {
        stream: BufReader::new(stream),
        addr,
        tokens: String::new(),
    };
    let (head, body) = client.ask("POST /session", "", &json!({"token": once}).to_string());
    let body: Value = serde_json::from_slice(&body).unwrap();
    let cookie = value(&head, "set-cookie: ").split(';').next().unwrap();
    let token = body["token"].as_str().unwrap();
    client.tokens = format!("Cookie: {cookie}\r\nX-Hermitcrab-Token: {token}\r\n");

    let mut group = bench.benchmark_group("api_10k");
    group.bench_function("read_block", |bencher| {
        bencher.iter(|| black_box(client.ask("GET /api/blocks/tides", "", "")));
    });
    group.bench_function("read_node", |bencher| {
        bencher.iter(|| black_box(client.ask("GET /api/blocks/tides?path=0.1.2.3", "", "")));
    });
    let mut rev = 1;
    group.bench_function("write_node", |bencher| {
        bencher.iter(|| {
            let body =
                json!({"path": "0.1.2.3", "content": format!("The tide of revision {rev}.")});
            let matches = format!("If-Match: {rev}\r\n");
            let (_, answer) = client.ask("PUT /api/blocks/tides", &matches, &body.to_string());
            rev = serde_json::from_slice::<Value>(&answer).unwrap()["rev"]
                .as_u64()
                .unwrap();
        });
    });
    group.finish();
    cancel.cancel();
    drop(client);
    runtime.block_on(server).unwrap();
}

criterion_group!(benches, api_10k);
criterion_main!(benches);
