//! Calls a second, and the time to the first event.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use tokio::task::JoinSet;

use crate::report::{Goal, Measured, Report, add_limit};
use crate::server::{self, Scene};
use crate::sides::{Layers, Raw, read_bytes, read_text};
use crate::wire::{self, Form};
use crate::{ROUNDS, Scale, cpu_time};

/// Calls a second of one slice of time, and the processor time of each in microseconds.
#[derive(Clone, Copy)]
struct Rate {
    per_second: f64,
    cpu_us: f64,
}

impl Rate {
    const NONE: Self = Self {
        per_second: 0.0,
        cpu_us: f64::INFINITY,
    };

    fn best(self, other: Self) -> Self {
        Self {
            per_second: self.per_second.max(other.per_second),
            cpu_us: self.cpu_us.min(other.cpu_us),
        }
    }
}

/// Keeps `count` calls under way for `span`.
async fn rate<F: Future<Output = ()> + Send>(
    count: usize,
    span: Duration,
    call: impl Fn() -> F + Clone + Send + 'static,
) -> Rate {
    let (begin, cpu) = (Instant::now(), cpu_time());
    let mut lanes = JoinSet::new();
    for _ in 0..count {
        let call = call.clone();
        lanes.spawn(async move {
            let mut calls = 0_u32;
            while begin.elapsed() < span {
                call().await;
                calls += 1;
            }
            f64::from(calls)
        });
    }
    let calls: f64 = lanes.join_all().await.into_iter().sum();
    Rate {
        per_second: calls / begin.elapsed().as_secs_f64(),
        cpu_us: (cpu_time().saturating_sub(cpu)).as_secs_f64() * 1e6 / calls,
    }
}

/// Calls a second with 1, 16 and 256 under way.
pub fn throughput(report: &mut Report, scale: Scale) {
    let server = server::start(Scene::Whole(wire::whole()));
    let folder = tempfile::tempdir().unwrap();
    let span = scale.pick(Duration::from_millis(800), Duration::from_millis(150));
    crate::runtime().block_on(async {
        for count in [1, 16, 256] {
            let raw = Raw::new(server);
            let layers = Layers::new(server, Form::Anthropic, None, 0);
            let path = folder.path().join(format!("{count}.jsonl"));
            let recording = Layers::new(server, Form::Anthropic, Some(&path), 0);
            let mut best = [Rate::NONE; 3];
            // The first round opens the connections and is not counted.
            for round in 0..=ROUNDS {
                let (raw, layers, recording) = (raw.clone(), layers.clone(), recording.clone());
                let rates = [
                    rate(count, span, move || call_raw(raw.clone())).await,
                    rate(count, span, move || call_layers(layers.clone())).await,
                    rate(count, span, move || call_layers(recording.clone())).await,
                ];
                if round > 0 {
                    for (best, rate) in best.iter_mut().zip(rates) {
                        *best = best.best(rate);
                    }
                }
            }
            let [raw, layers, recording] = best;
            // The goals are stated for 16.
            let goal = |goal| {
                if count == 16 {
                    Goal::AtLeast(goal)
                } else {
                    Goal::Open
                }
            };
            let measured = |side: Rate, cpu_goal: f64| Measured {
                unit: "calls/s",
                layers: side.per_second,
                raw: raw.per_second,
                limit: None,
                cpu_us: Some((side.cpu_us, raw.cpu_us)),
                cpu_goal: (count == 16).then_some(cpu_goal),
            };
            report.add(
                &format!("calls_c{count}"),
                goal(0.85),
                &measured(layers, 1.2),
            );
            report.add(
                &format!("record_c{count}"),
                goal(0.7),
                &measured(recording, 1.5),
            );
        }
    });
}

/// Calls with tools against the same calls without.
pub fn tools(report: &mut Report, scale: Scale) {
    const COUNT: usize = 16;
    let server = server::start(Scene::Whole(wire::whole()));
    let span = scale.pick(Duration::from_millis(800), Duration::from_millis(150));
    crate::runtime().block_on(async {
        let sides = [0, 10, 30].map(|tools| Layers::new(server, Form::Anthropic, None, tools));
        let mut best = [Rate::NONE; 3];
        for round in 0..=ROUNDS {
            for (best, side) in best.iter_mut().zip(&sides) {
                let side = side.clone();
                let rate = rate(COUNT, span, move || call_layers(side.clone())).await;
                if round > 0 {
                    *best = best.best(rate);
                }
            }
        }
        let [none, ten, thirty] = best;
        for (name, side, cpu_goal) in [("tools10", ten, Some(1.1)), ("tools30", thirty, None)] {
            let measured = Measured {
                unit: "calls/s",
                layers: side.per_second,
                raw: none.per_second,
                limit: None,
                cpu_us: Some((side.cpu_us, none.cpu_us)),
                cpu_goal,
            };
            report.add(name, Goal::Open, &measured);
        }
    });
}

async fn call_raw(raw: Raw) {
    raw.call().await;
}

async fn call_layers(layers: Layers) {
    layers.call().await;
}

/// From the call to the first event, against the first chunk; the medians.
pub fn first_event(report: &mut Report, scale: Scale) {
    let server = server::start(Scene::Events(wire::events(Form::Anthropic, 1000)));
    let count = scale.pick(2000, 200);
    crate::runtime().block_on(async {
        let raw = Raw::new(server);
        let layers = Layers::new(server, Form::Anthropic, None, 0);
        let (mut best, mut added) = ([f64::INFINITY; 2], f64::INFINITY);
        for _ in 0..ROUNDS {
            let mut times = [Vec::with_capacity(count), Vec::with_capacity(count)];
            for _ in 0..count {
                let begin = Instant::now();
                let mut response = raw.open().await;
                response.chunk().await.unwrap().unwrap();
                times[0].push(begin.elapsed());
                read_bytes(response).await;

                let begin = Instant::now();
                let mut events = layers.open().await;
                events.next().await.unwrap().unwrap();
                times[1].push(begin.elapsed());
                read_text(events).await;
            }
            let [raw, layers] = times.map(median);
            added = added.min(layers - raw);
            best = [best[0].min(raw), best[1].min(layers)];
        }
        let [raw, layers] = best;
        report.add(
            "first_event",
            Goal::Open,
            &Measured {
                unit: "us",
                layers,
                raw,
                limit: None,
                cpu_us: None,
                cpu_goal: None,
            },
        );
        add_limit("first_event_added", "us", added, 100.0);
    });
}

/// The duration in microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}
