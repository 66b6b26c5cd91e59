//! The simulation against results of theory, before its figures are believed.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::simulation::{Costs, Fleet, simulate};
use crate::station::{Station, exponential, nanos};

/// The requests that a check sends.
const REQUESTS: u32 = 400_000;

/// The mean time that a request takes at a station to which they come at random, one a second; each is served in a random time with
/// a mean of `service` seconds.
fn mean_time(servers: usize, service: f64) -> f64 {
    let mut random = ChaCha20Rng::seed_from_u64(1);
    let mut station = Station::new(servers, nanos(f64::from(REQUESTS)));
    let (mut now, mut sum) = (0, 0);
    for _ in 0..REQUESTS {
        now += nanos(exponential(&mut random, 1.0));
        let end = station.serve(now, nanos(exponential(&mut random, service)));
        sum += end - now;
    }
    assert_near(
        "the busy part of a station",
        station.utilisation(),
        service / servers as f64,
    );
    sum as f64 / 1e9 / f64::from(REQUESTS)
}

fn assert_near(what: &str, found: f64, expected: f64) {
    let ratio = found / expected;
    assert!(
        (0.98..1.02).contains(&ratio),
        "{what}: {found}, expected {expected}"
    );
}

/// Checks what has a known answer.
pub fn check() {
    // M/M/1 at half load waits as long as it serves; M/M/2 is quicker by 1 - 1/4.
    assert_near("M/M/1", mean_time(1, 0.5), 1.0);
    assert_near("M/M/2", mean_time(2, 1.0), 1.0 / 0.75);
    let free = Costs {
        job: 0.0,
        job_kb: 0.0,
        poll: 0.0,
        commit: 0.0,
        commit_law: 0.0,
        submit_shard: 0.0,
        round_trip: 0.0,
        output_kb: 0.0,
        commit_kb: 0.0,
        submit_kb: 0.0,
    };
    let alone = Fleet {
        workers: 1,
        coordinators: 1,
        laws: 400,
        law: 0.02,
        plan: 2.0,
        shard: 1.0,
        poll: 0.1,
        cores: 1,
        log: 200.0,
        seconds: 10_000.0,
    };
    // Without costs: eight seconds of laws after two of planning.
    let figures = simulate(&free, &alone, 1);
    assert_near("a worker without costs", figures.laws_per_s, 40.0);
    // One statement of a second for each law, 25 of them in a shard, and one core: the core decides.
    let slow = Costs {
        commit_law: 1.0,
        ..free
    };
    let two = Fleet {
        coordinators: 4,
        workers: 2,
        ..alone
    };
    assert_near("a busy core", simulate(&slow, &two, 1).laws_per_s, 1.0);
    assert_near("a busy core's time", simulate(&slow, &two, 1).server, 1.0);
    // 1,024 kB of log for each law, and 2 MB a second.
    let wide = Costs {
        commit_kb: 1024.0,
        ..free
    };
    let narrow = Fleet { log: 2.0, ..two };
    assert_near("a busy log", simulate(&wide, &narrow, 1).laws_per_s, 2.0);
    let again = simulate(&free, &alone, 1).laws_per_s.to_bits();
    assert_eq!(figures.laws_per_s.to_bits(), again, "a seed, other figures");
}
