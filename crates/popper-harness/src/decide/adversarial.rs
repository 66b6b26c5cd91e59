//! A mutation search, guided by the distance of a start from a violation of the law.

use super::budget::Budget;
use super::evaluator::{CompiledUniverse, RingStats};
use super::generators::{CaseFamily, Generator};
use super::rng::RngStream;
use crate::bitslice::{Batch, LANES, Scratch};
use crate::law::Program;
use crate::universe::{State, Universe};

/// The rings that are searched; each begins with the best of the one before, made longer.
const RINGS: [usize; 5] = [9, 12, 16, 21, 28];
/// The number of starts of a generation that are kept.
const KEPT: usize = 64;

/// Searches rings in ascending order and returns the statistics of each, up to and including the first violation.
pub fn search(
    compiled: &CompiledUniverse<'_>,
    program: &Program,
    seed: u64,
    fingerprint: &str,
    generations: u32,
    largest: Option<usize>,
    budget: &Budget<'_>,
) -> Vec<RingStats> {
    let generator = Generator::new(compiled.universe, program);
    let symbols = compiled.universe.alphabet().len();
    let mut tallies = Vec::new();
    let mut elite: Vec<State> = Vec::new();
    let mut scratch = Scratch::default();
    let rings = RINGS
        .into_iter()
        .chain(largest.filter(|n| *n > 0 && !RINGS.contains(n) && *n <= 64));
    for n in rings {
        let Some(evaluator) = compiled.evaluator(program, n) else {
            continue;
        };
        // Without a plan there is no gradient, and blind search is what sampling did.
        let Some(plan) = &evaluator.plan else { break };
        let mut draw = RngStream::new(seed, fingerprint, "adversarial", n);
        let mut tally = RingStats::new(n);
        let mut population: Vec<State> = elite
            .iter()
            .map(|state| generator.resized(state, n, &mut draw))
            .collect();
        for family in CaseFamily::SAMPLED {
            population.extend(generator.cases(family, n, &mut draw));
        }
        population.truncate(LANES);
        for _ in 0..generations {
            if budget.is_spent() {
                return tallies;
            }
            let batch = Batch::of(&population, n, symbols);
            let distance = plan.distance(&batch, &mut scratch);
            let mut order: Vec<usize> = (0..population.len()).collect();
            order.sort_by_key(|&lane| (distance[lane], lane));
            tally.attempted += population.len() as u64;
            if distance[order[0]] == 0 {
                let outcome = evaluator.run(&batch, &mut scratch);
                tally.enter(&batch, &outcome, [CaseFamily::Adversarial; 8]);
                break;
            }
            elite = order
                .iter()
                .take(KEPT)
                .map(|&lane| population[lane].clone())
                .collect();
            population.clone_from(&elite);
            while population.len() < LANES {
                let parent = &elite[draw.below(elite.len())];
                population.push(generator.mutated(parent, &mut draw));
            }
        }
        let found = tally.best.is_some();
        tallies.push(tally);
        if found {
            break;
        }
    }
    tallies
}
