//! The mind stub by itself, for clients outside of the tests, until stdin ends:
//! `cargo run -p test-support --example mind_stub -- --mode literal --latency-ms 200`.
//!
//! Flags: `--mode ok|literal|mix`, `--latency-ms N`, `--jitter N` (milliseconds too), `--fail-every N`, `--keep DIR` for the bodies
//! of all requests. It prints the base URL, and at the end what came.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "an example is a program: it has arguments, prints, reads stdin and writes files"
)]

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use test_support::{MindMode, MindScript, MindStub};

fn main() -> Result<(), Box<dyn Error>> {
    let mut script = MindScript::default();
    let mut keep = None;
    let mut words = std::env::args().skip(1);
    while let Some(flag) = words.next() {
        let value = words.next().ok_or(format!("{flag} needs a value"))?;
        let time = || value.parse().map(Duration::from_millis);
        match flag.as_str() {
            "--mode" => script.mode = mode(&value)?,
            "--latency-ms" => script.latency = time()?,
            "--jitter" => script.jitter = time()?,
            "--fail-every" => script.fail_every = Some(value.parse()?).filter(|every| *every > 0),
            "--keep" => keep = Some(PathBuf::from(&value)),
            _ => return Err(format!("there is no flag {flag}").into()),
        }
    }
    let stub = MindStub::start(script);
    println!("{}", stub.url());
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    println!("{:#?}", stub.stats());
    if let Some(folder) = keep {
        std::fs::create_dir_all(&folder)?;
        for (number, request) in stub.requests().iter().enumerate() {
            std::fs::write(folder.join(format!("{number:06}.json")), &request.body)?;
        }
    }
    Ok(())
}

fn mode(name: &str) -> Result<MindMode, String> {
    match name {
        "ok" => Ok(MindMode::Ok),
        "mix" => Ok(MindMode::Mix),
        "literal" => Ok(MindMode::Literal {
            texts: 2,
            bytes: 200,
        }),
        _ => Err(format!("the modes are ok, literal and mix, not {name:?}")),
    }
}
