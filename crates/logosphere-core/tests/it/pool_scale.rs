//! The cost of a pool does not depend on its history.

use logosphere_core::pool::{Origin, Pool, Retention};

use crate::desk::sample_rng;

const MESSAGES: u32 = 1_000_000;

/// As many texts of 200 bytes.
fn filled(messages: u32, max_active: usize, keep: Retention) -> Pool {
    let mut pool = Pool::new(max_active, keep);
    for number in 0..messages {
        pool.add(&format!("{number:0200}"), Origin::Mind).unwrap();
    }
    pool
}

#[test]
fn a_sample_takes_as_many_random_numbers_from_a_million_messages_as_from_a_hundred() {
    for keep in [Retention::All, Retention::Active] {
        let pools = [100, MESSAGES].map(|messages| filled(messages, 15, keep));
        for mind in 0..50 {
            let [few, many] = pools.each_ref().map(|pool| {
                let mut rng = sample_rng(9, 4, mind);
                let drawn = pool.sample(3, &mut rng);
                let first = pool.len() - 15;
                // Where the stream stands afterwards says how much of it was taken.
                (
                    drawn.iter().map(|id| id.0 - first).collect::<Vec<_>>(),
                    rng.next_u64(),
                )
            });
            assert_eq!(few, many);
        }
    }
}

#[test]
fn a_sample_from_a_million_that_can_be_seen_takes_k_numbers() {
    let pool = filled(MESSAGES, MESSAGES as usize, Retention::All);
    for mind in 0..50 {
        let mut rng = sample_rng(7, 1, mind);
        assert_eq!(pool.sample(10, &mut rng).len(), 10);
        // A number is drawn again once in 2^44 times, so it is one for each message.
        let mut again = sample_rng(7, 1, mind);
        for _ in 0..10 {
            again.next_u64();
        }
        assert_eq!(rng.next_u64(), again.next_u64());
    }
}

#[cfg(target_os = "linux")]
mod memory {
    use std::io::Write as _;
    use std::process::Command;

    use super::{MESSAGES, Retention, filled};

    const MIB: u64 = 1 << 20;

    /// The most memory that a program with such a pool ever had, in bytes. It runs by itself, because the memory of the
    /// other tests would count.
    fn peak(child: &str) -> u64 {
        let child = Command::new("/proc/self/exe")
            .args(["--ignored", "--exact", "--nocapture"])
            .arg(format!("pool_scale::memory::{child}"))
            .output()
            .unwrap();
        let out = String::from_utf8(child.stdout).unwrap();
        let (_, line) = out.split_once("VmHWM:").unwrap_or_else(|| panic!("{out}"));
        let kilobytes = line.split_whitespace().next().unwrap();
        kilobytes.parse::<u64>().unwrap() * 1024
    }

    fn report() {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        writeln!(out(), "{}", line.unwrap()).unwrap();
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the test that started this one reads it"
    )]
    fn out() -> std::io::Stdout {
        std::io::stdout()
    }

    #[test]
    #[ignore = "run by the test of its memory"]
    fn active() {
        let pool = filled(MESSAGES, 15, Retention::Active);
        assert_eq!(pool.len(), u64::from(MESSAGES));
        report();
    }

    #[test]
    #[ignore = "run by the test of its memory"]
    fn all() {
        let pool = filled(MESSAGES, 15, Retention::All);
        assert_eq!(pool.len(), u64::from(MESSAGES));
        report();
    }

    #[test]
    fn of_a_million_messages_only_the_active_ones_take_room() {
        let peak = peak("active");
        assert!(peak <= 20 * MIB, "{peak}");
    }

    #[test]
    fn a_whole_history_takes_little_more_than_its_texts() {
        let (peak, texts) = (peak("all"), u64::from(MESSAGES) * 200);
        assert!(peak >= texts, "{peak}");
        // The bound of the measured table: 0.35 of 947 MB.
        assert!(peak <= 331_000_000, "{peak}");
    }
}
