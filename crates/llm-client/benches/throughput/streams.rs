//! A long stream read to its text, and the memory of many open ones.

use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use llm_client::Event;
use tokio::task::JoinSet;

use crate::report::{Goal, Measured, Report};
use crate::server::{self, Scene};
use crate::sides::{Layers, Raw, read_bytes, read_text};
use crate::wire::{self, Form};
use crate::{ROUNDS, Scale, cpu_time};

/// 10 MiB of events decoded to text, against reading the bytes.
pub fn long(report: &mut Report, scale: Scale) {
    for (form, name) in [(Form::Anthropic, "anthropic"), (Form::Openai, "openai")] {
        let events = wire::events(form, 10 << 20);
        let joined = wire::joined(&events);
        // A model server sends every event by itself.
        let goal = Goal::AtMost(2.0);
        one(
            report,
            scale,
            form,
            &format!("sse_10mib_{name}"),
            goal,
            Scene::Events(events),
        );
        // A proxy may collect them: then there is hardly any work in reading the bytes.
        let name = format!("sse_10mib_{name}_in_16k_pieces");
        one(
            report,
            scale,
            form,
            &name,
            Goal::Open,
            Scene::Events(joined),
        );
    }
}

fn one(report: &mut Report, scale: Scale, form: Form, name: &str, goal: Goal, scene: Scene) {
    let server = server::start(scene);
    let (mut best, mut least) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
    crate::runtime().block_on(async {
        let raw = Raw::new(server);
        let layers = Layers::new(server, form, None, 0);
        for _ in 0..ROUNDS * scale.pick(3, 1) {
            let (begin, cpu) = (Instant::now(), cpu_time());
            assert!(read_bytes(raw.open().await).await >= 10 << 20);
            best[0] = best[0].min(begin.elapsed().as_secs_f64());
            least[0] = least[0].min((cpu_time().saturating_sub(cpu)).as_secs_f64() * 1e6);

            let (begin, cpu) = (Instant::now(), cpu_time());
            assert!(read_text(layers.open().await).await.len() > 1 << 20);
            best[1] = best[1].min(begin.elapsed().as_secs_f64());
            least[1] = least[1].min((cpu_time().saturating_sub(cpu)).as_secs_f64() * 1e6);
        }
    });
    let measured = Measured {
        unit: "s",
        layers: best[1],
        raw: best[0],
        limit: matches!(goal, Goal::AtMost(_)).then_some(0.15),
        cpu_us: Some((least[1], least[0])),
        cpu_goal: None,
    };
    report.add(name, goal, &measured);
}

const OPEN: usize = 256;
/// Bytes that each open stream has read, so that its buffers are in use.
const READ: usize = 16 << 10;

/// The peak resident memory of a process with 256 open streams; each side is a separate process.
pub fn memory(report: &mut Report) {
    let server = server::start(Scene::Held(wire::events(Form::Anthropic, READ)));
    let program = std::env::current_exe().unwrap();
    let peak = |side: &str| {
        let child = Command::new(&program)
            .args([CHILD, side, &server.to_string()])
            .output()
            .unwrap();
        assert!(
            child.status.success(),
            "{}",
            String::from_utf8_lossy(&child.stderr)
        );
        let kib: f64 = String::from_utf8(child.stdout)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        kib / 1024.0
    };
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        best = [best[0].min(peak("raw")), best[1].min(peak("layers"))];
    }
    let measured = Measured {
        unit: "MiB",
        layers: best[1],
        raw: best[0],
        limit: Some(40.0),
        cpu_us: None,
        cpu_goal: None,
    };
    report.add("peak_rss_256_streams", Goal::AtMost(1.3), &measured);
}

/// The argument that makes this program one side of [`memory`].
pub const CHILD: &str = "--child";

/// Opens the streams, reads what comes, and prints the peak in KiB.
pub fn child(side: &str, server: SocketAddr) {
    crate::runtime().block_on(async {
        let mut open = JoinSet::new();
        let (raw, layers) = match side {
            "raw" => (Some(Raw::new(server)), None),
            _ => (None, Some(Layers::new(server, Form::Anthropic, None, 0))),
        };
        for _ in 0..OPEN {
            let (raw, layers) = (raw.clone(), layers.clone());
            open.spawn(async move {
                let mut held = (None, None);
                if let Some(raw) = raw {
                    let mut response = raw.open().await;
                    let mut length = 0;
                    while length < READ {
                        length += response.chunk().await.unwrap().unwrap().len();
                    }
                    held.0 = Some(response);
                }
                if let Some(layers) = layers {
                    let mut events = layers.open().await;
                    while !matches!(events.next().await.unwrap().unwrap(), Event::Usage(usage) if usage.output > 1) {}
                    held.1 = Some(events);
                }
                held
            });
        }
        let held = open.join_all().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        println!("{}", peak.trim().trim_end_matches(" kB"));
        drop(held);
    });
}
