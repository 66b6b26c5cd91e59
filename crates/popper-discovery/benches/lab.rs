//! The shipped baselines of the lab on 20 universes a tier, as rows B1 and B2 of its acceptance.
//!
//! `cargo bench -p orrery-popper-discovery --bench lab -- [UNIVERSES] [statements]` prints one JSON object: for how many universes each
//! statement holds, and the seconds of all episodes, which the word `statements` leaves out.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a benchmark measures time and prints"
)]

use std::time::Instant;

use popper_discovery::lab::{Baseline, Episode, LabContract, LabScore, LabTier, SealedUniverse};
use popper_harness::universe::{KineticGrid, Tabulated, Universe as _};
use rayon::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Universes a tier, unless the command line says otherwise.
const UNIVERSES: u64 = 20;

fn play(baseline: Baseline, tier: LabTier, seed: u64) -> LabScore {
    let mut episode = Episode::new(SealedUniverse::from_seed(tier, seed).unwrap());
    let contract = episode.contract().clone();
    let ask = &mut |line: &str| Ok::<_, ()>(episode.line(line).line);
    baseline.play(&contract, 0, ask).unwrap();
    episode.score()
}

fn is_perfect(score: &LabScore) -> bool {
    score.predictions.iter().all(|at| at.right == at.cells)
}

/// The score of the predictions that follow from a rule with the symbols of the contract by position.
fn predicted(tier: LabTier, seed: u64, rule: impl Fn(&LabContract) -> Tabulated) -> LabScore {
    let mut episode = Episode::new(SealedUniverse::from_seed(tier, seed).unwrap());
    let contract = episode.contract().clone();
    let rule = rule(&contract);
    let symbols: Vec<char> = contract.symbols.chars().collect();
    let mut predictions = Vec::new();
    for (id, start, time) in contract.questions.each() {
        let place = |c| symbols.iter().position(|symbol| *symbol == c).unwrap() as u8;
        let start: Vec<u8> = start.chars().map(place).collect();
        let state = rule.evolve(&start, time);
        let state: String = state
            .iter()
            .map(|cell| symbols[usize::from(*cell)])
            .collect();
        predictions.push(json!({"id": id, "state": state}));
    }
    assert!(
        !episode
            .line(json!({"predict": predictions}).to_string())
            .is_error
    );
    episode.score()
}

/// The sealed rule with one wrong window, which depends on the seed.
fn wrong_window(tier: LabTier, seed: u64) -> Tabulated {
    let sealed = SealedUniverse::from_seed(tier, seed).unwrap();
    let mut definition: Value = serde_json::to_value(sealed.universe().definition()).unwrap();
    let table = definition["rule"]["table"].as_object_mut().unwrap();
    let windows = table.len();
    let next = table.values_mut().nth(seed as usize * 7 % windows).unwrap();
    let other = tier.symbols().chars().find(|c| *next != json!(c));
    *next = json!(other);
    Tabulated::from_value(&definition).unwrap()
}

/// All episodes on a number of threads: the hash of their scores, and the seconds.
fn all(universes: u64, threads: usize) -> (String, f64) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let begin = Instant::now();
    let episodes: Vec<(LabTier, u64, Baseline)> = LabTier::ALL
        .into_iter()
        .flat_map(|tier| (0..universes).map(move |seed| (tier, seed)))
        .flat_map(|(tier, seed)| Baseline::ALL.map(|baseline| (tier, seed, baseline)))
        .collect();
    let lines: Vec<String> = pool.install(|| {
        let episodes = episodes.par_iter();
        episodes
            .map(|(tier, seed, baseline)| play(*baseline, *tier, *seed).line())
            .collect()
    });
    let hash = Sha256::digest(lines.join("\n"));
    let hash = hex::encode(hash);
    (hash, begin.elapsed().as_secs_f64())
}

/// Row B1: for how many universes of a tier each statement holds.
fn statements(tier: LabTier, universes: u64) -> Value {
    let (mut perfect, mut half, mut random_perfect, mut wrong, mut grid) = (0, 0, 0, 0, 0.0);
    let (mut space_cells, mut random_cells) = (Vec::new(), Vec::new());
    for seed in 0..universes {
        let space = play(Baseline::VersionSpace, tier, seed);
        let random = play(Baseline::Random, tier, seed);
        perfect += u32::from(is_perfect(&space));
        random_perfect += u32::from(is_perfect(&random));
        half += u32::from(is_perfect(&space) && 2 * space.cells.spent <= random.cells.spent);
        space_cells.push(space.cells.spent);
        random_cells.push(random.cells.spent);
        wrong += u32::from(!is_perfect(&predicted(tier, seed, |_| {
            wrong_window(tier, seed)
        })));
        if tier.symbols().len() == KineticGrid.alphabet().len() {
            let score = predicted(tier, seed, |_| Tabulated::clone(&KineticGrid));
            let above = (score.predictions.iter()).map(|at| at.right_share - at.chance_share);
            grid += above.sum::<f64>() / score.predictions.len() as f64;
        }
    }
    space_cells.sort_unstable();
    random_cells.sort_unstable();
    json!({
        "version_space_perfect": perfect,
        "random_perfect": random_perfect,
        "perfect_for_half_the_cells": half,
        "median_cells": {"version_space": space_cells[space_cells.len() / 2],
            "random": random_cells[random_cells.len() / 2]},
        "one_wrong_window_below_100": wrong,
        "kinetic_grid_points_above_chance": 100.0 * grid / universes as f64,
    })
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let given = words.iter().find_map(|word| word.parse().ok());
    let universes = given.unwrap_or(UNIVERSES);
    let mut result = json!({"universes": universes});
    for tier in [LabTier::A, LabTier::B, LabTier::D] {
        result[tier.name()] = statements(tier, universes);
    }
    if !words.iter().any(|word| word == "statements") {
        let runs = [1, 2, 8].map(|threads| (threads, all(universes, threads)));
        result["episodes"] = json!(universes * 12);
        for (threads, (hash, seconds)) in &runs {
            result["threads"][threads.to_string()] = json!({"sha256": hash, "seconds": seconds});
        }
        let is_same = runs.iter().all(|(_, (hash, _))| *hash == runs[0].1.0);
        result["same_bytes"] = json!(is_same);
    }
    println!("{}", serde_json::to_string_pretty(&result).unwrap());
}
