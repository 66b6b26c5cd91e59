//! Plans of sweeps: their keys, cells and seeds.

use std::collections::BTreeSet;

use logosphere_core::study::sweep::SweepPlan;

const PLAN: &str = r#"
schema_version = 1
name = "k-by-mind"
repeats = 20
seed = 7
init = "init.md"
[base]
n_minds = 8
max_rounds = 60
[axes]
mind = ["mutator:p=0.05", "silent"]
k_samples = [1, 3, 9]
options.temperature = [0.5]
[caps]
max_usd = 20.0
[tests]
alpha = 0.1
null_runs = 199
"#;

fn refused(plan: &str) -> String {
    SweepPlan::parse(plan.as_bytes()).unwrap_err().to_string()
}

/// The plan with one line in place of another.
fn with(line: &str, other: &str) -> String {
    assert!(PLAN.contains(line), "{line}");
    PLAN.replace(line, other)
}

#[test]
fn a_plan_has_the_cells_of_its_axes_in_the_order_of_the_file() {
    let plan = SweepPlan::parse(PLAN.as_bytes()).unwrap();
    assert_eq!((plan.repeats, plan.seed, plan.null_runs), (20, 7, 199));
    assert_eq!((plan.max_usd, plan.alpha), (Some(20.0), 0.1));
    let cells = plan.cells();
    let keys: Vec<&str> = cells.iter().map(|cell| cell.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "mind=0,k_samples=1,options.temperature=0.5",
            "mind=0,k_samples=3,options.temperature=0.5",
            "mind=0,k_samples=9,options.temperature=0.5",
            "mind=silent,k_samples=1,options.temperature=0.5",
            "mind=silent,k_samples=3,options.temperature=0.5",
            "mind=silent,k_samples=9,options.temperature=0.5",
        ]
    );
    let settings = cells[4].layer.clone().settings(1).unwrap();
    assert_eq!(settings.mind.as_deref(), Some("silent"));
    assert_eq!((settings.k_samples, settings.n_minds), (3, 8));
    assert_eq!(settings.options.temperature, Some(0.5));
}

#[test]
fn a_plan_without_axes_has_one_cell() {
    let plan = "schema_version = 1\nname = \"n\"\nrepeats = 1\ninit = \"init.md\"\n";
    let plan = SweepPlan::parse(plan.as_bytes()).unwrap();
    let cells = plan.cells();
    assert_eq!((cells.len(), cells[0].key.as_str()), (1, "all"));
    assert_eq!((plan.alpha, plan.null_runs), (0.05, 999));
}

#[test]
fn each_run_has_a_seed_of_its_own_unless_seeds_are_common() {
    let seeds = |plan: &SweepPlan| {
        let cells = plan.cells();
        let seeds = cells
            .iter()
            .flat_map(|cell| (0..20).map(|repeat| cell.seed(plan, repeat)));
        seeds.collect::<Vec<u64>>()
    };
    let own = SweepPlan::parse(PLAN.as_bytes()).unwrap();
    let own = seeds(&own);
    assert_eq!(own.iter().collect::<BTreeSet<_>>().len(), 120);
    let common = with("seed = 7", "seed = 7\ncommon_seeds = true");
    let common = seeds(&SweepPlan::parse(common.as_bytes()).unwrap());
    assert_eq!(common[..20], common[100..]);
    assert_eq!(common.iter().collect::<BTreeSet<_>>().len(), 20);
    // By `printf 'logosphere/sweep/v1\n7\n\n0' | sha256sum`, its first 8 bytes read from the last to the first.
    assert_eq!(format!("{:016x}", common[0]), KNOWN_SEED);
}

/// The first seed of a plan with seed 7 and common seeds.
const KNOWN_SEED: &str = "b4624e2dacb61b7a";

#[test]
fn a_wrong_plan_is_refused_with_the_key_and_what_was_expected() {
    let cases = [
        (
            "repeats = 20",
            "repeat = 20",
            "repeat: no such key of a plan; the nearest is repeats",
        ),
        ("repeats = 20", "", "repeats: missing; a plan needs it"),
        (
            "repeats = 20",
            "repeats = 0",
            "repeats: expected a whole number from 1 to 1000, found 0",
        ),
        (
            "schema_version = 1",
            "schema_version = 2",
            "schema_version: expected 1, found 2",
        ),
        (
            "n_minds = 8",
            "n_mind = 8",
            "base.n_mind: no such setting; the nearest is n_minds",
        ),
        (
            "n_minds = 8",
            "seed = 8",
            "base.seed: the seed of a plan is the key seed outside of its tables",
        ),
        (
            "k_samples = [1, 3, 9]",
            "k_samples = 3",
            "axes.k_samples: expected a list of values, found a number",
        ),
        (
            "k_samples = [1, 3, 9]",
            "k_samples = []",
            "axes.k_samples: expected at least one value",
        ),
        (
            "k_samples = [1, 3, 9]",
            "k_samples = [1, 1]",
            "axes.k_samples: 1 is given twice",
        ),
        (
            "k_samples = [1, 3, 9]",
            "k_sample = [1]",
            "axes.k_sample: no such setting; the nearest is k_samples",
        ),
        (
            "k_samples = [1, 3, 9]",
            "seed = [1]",
            "axes: seed cannot be an axis: the seed of each run follows from that of the plan",
        ),
        (
            "max_usd = 20.0",
            "max_eur = 20.0",
            "caps.max_eur: no such key of a plan; the nearest is caps.max_usd",
        ),
        (
            "alpha = 0.1",
            "alpha = 0.0",
            "tests.alpha: expected a number above 0, up to 0.5",
        ),
        (
            "null_runs = 199",
            "null_runs = 99",
            "tests.null_runs: expected a whole number from 199 to 1000000, found 99",
        ),
        (
            "name = \"k-by-mind\"",
            "name = \"../up\"",
            "name: expected 1 to 64 of a-z, 0-9, point, _ and -, without a point at the start",
        ),
        ("seed = 7", "seed = ", "line 5, column 8: not TOML: "),
        (
            "seed = 7",
            "seed = 7\nseed = 8",
            "line 6, column 1: not TOML: duplicate key",
        ),
    ];
    for (line, other, why) in cases {
        let found = refused(&with(line, other));
        assert!(found.starts_with(why), "{found}\n{why}");
    }
    let many: Vec<String> = (1..=101).map(|k| k.to_string()).collect();
    let many = many.join(", ");
    let many = with(
        "k_samples = [1, 3, 9]",
        &format!("k_samples = [{many}]\nn_minds = [{many}]"),
    );
    assert_eq!(
        refused(&many),
        "axes: expected at most 10000 cells, which is the product of all axes"
    );
}
