//! Several encoder and decoder models: calls that are shared, the order of results, groups, the page.

use std::collections::BTreeMap;

use scraper::Html;
use test_support::page::texts;
use zer0gravity_engine::model::ModelRequest;
use zer0gravity_engine::plan::{ModelPair, Plan};
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::report::{
    Board, Limits, RunReport, compare, export_csv, export_inspect, page,
};
use zer0gravity_engine::run::Estimate;

use crate::desk::{Characters, Desk, plan};
use crate::player::{Asked, Player, says, usual};

const TEXTS: [&str; 2] = ["the first text", "the second one"];
const SYSTEMS: [&str; 4] = [
    "rules (a -> x)",
    "rules (a -> y)",
    "rules (b -> x)",
    "rules (b -> y)",
];

fn with(models: &[[&str; 2]]) -> Plan {
    let mut plan = plan(&TEXTS);
    let pairs = models.iter();
    let pairs = pairs.map(|[encoder, decoder]| ModelPair::new(*encoder, *decoder));
    plan.config = plan.config.with_pairs(pairs);
    plan
}

/// Two encoders and two decoders.
fn crossed() -> Plan {
    with(&[["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]])
}

/// Models that sign what they write.
fn player() -> Player {
    Player::default().replies(|request: &ModelRequest| match request.role {
        Role::Encoder | Role::Decoder => {
            let text = usual(request).text;
            Ok(says(format!("{text} by {}", request.model)))
        }
        _ => Ok(usual(request)),
    })
}

fn report(plan: &Plan) -> RunReport {
    Desk::default().report(&player(), plan)
}

#[test]
fn encodes_are_shared_by_all_decoders_and_counts_are_of_the_encoder() {
    let (player, plan) = (player(), crossed());
    let report = Desk::default().report(&player, &plan);
    let mut calls: BTreeMap<(String, String), usize> = BTreeMap::new();
    for asked in player.asked() {
        let (role, model) = match asked {
            Asked::Message(request) => (format!("{:?}", request.role), request.model),
            Asked::Count(request) => ("Count".to_owned(), request.model),
        };
        *calls.entry((role, model)).or_default() += 1;
    }
    let found: Vec<_> = calls
        .iter()
        .map(|((role, model), count)| (role.as_str(), model.as_str(), *count))
        .collect();
    let expected = [
        // Two texts and their two encoded texts.
        ("Count", "a", 4),
        ("Count", "b", 4),
        ("Decoder", "x", 4),
        ("Decoder", "y", 4),
        ("Encoder", "a", 2),
        ("Encoder", "b", 2),
        // The rules do not depend on the models.
        ("ImplementabilityJudge", "model-1", 2),
        ("SemanticJudge", "model-1", 8),
    ];
    assert_eq!(found, expected);
    assert_eq!(report.cost.calls, 30);
    let estimate = Estimate::of(&plan, &Characters);
    assert_eq!((estimate.experiments, report.results.len()), (8, 8));
    let counts = estimate.calls;
    assert_eq!((counts.count, counts.encode, counts.decode), (8, 4, 8));
    let judged = (counts.judge_semantic, counts.judge_implementability);
    assert_eq!(judged, (8, 2));
    assert_eq!(counts.total, 30);
}

#[test]
fn results_are_in_plan_order_and_name_their_models() {
    let report = report(&crossed());
    let results = report.results.iter();
    let found = results.map(|one| format!("{} {}", one.encoding_id, one.test_case_id));
    let expected = SYSTEMS.iter();
    let expected = expected.flat_map(|system| ["1", "2"].map(|case| format!("{system} {case}")));
    assert!(found.eq(expected));
    for result in &report.results {
        let models = &result.metadata.models;
        assert_eq!(&*result.metadata.model, models.encoder);
        assert_eq!(models.judges, ["model-1"]);
        let encoded = result.encoded_text.as_deref().unwrap();
        let signed = format!("by {}", models.encoder);
        assert!(encoded.ends_with(&signed), "{encoded}");
        let decoded = result.decoded_text.as_deref().unwrap();
        let signed = format!("by {}", models.decoder);
        assert!(decoded.ends_with(&signed), "{decoded}");
    }
}

#[test]
fn statistics_and_costs_are_of_an_encoding_and_its_models() {
    let report = report(&crossed());
    let statistics = &report.statistics;
    let systems = statistics.per_encoding.iter();
    let names: Vec<_> = systems.map(|one| one.encoding_id.as_str()).collect();
    assert_eq!(names, SYSTEMS);
    let costs = report.cost.per_encoding.iter();
    let names: Vec<_> = costs.map(|one| one.encoding_id.as_str()).collect();
    assert_eq!(names, SYSTEMS);
    assert!(statistics.per_encoding.iter().all(|one| one.items == 2));
    assert_eq!(statistics.per_case.len(), 8);
    assert_eq!(statistics.pairwise.len(), 6);
    let first = &statistics.pairwise[0];
    assert_eq!([&*first.a, &*first.b], [SYSTEMS[0], SYSTEMS[1]]);
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(RunReport::read(&json).unwrap(), report);
    let csv = export_csv(&report);
    assert!(csv.contains("\r\nrules (b -> x),1,"), "{csv}");
}

#[test]
fn tokens_of_the_rules_are_those_of_each_encoder() {
    let player = Player::default().counts(|request| {
        let tokens = request.text.chars().count() as u64;
        Ok(if request.model == "a" {
            tokens
        } else {
            2 * tokens
        })
    });
    let mut plan = crossed();
    plan.config.cost = zer0gravity_engine::plan::Costs::Counted;
    let report = Desk::default().report(&player, &plan);
    let tokens: Vec<_> = (report.encodings.iter())
        .map(|encoding| encoding.rules_tokens.unwrap())
        .collect();
    assert_eq!(tokens, [24, 24, 48, 48]);
    let of_rules = report.results.iter().step_by(2);
    let of_rules = of_rules.map(|result| result.cost.as_ref().unwrap().rules_tokens);
    assert!(of_rules.eq([24, 24, 48, 48]));
}

#[test]
fn one_pair_has_no_trace_of_axes() {
    let one = with(&[["a", "x"], ["a", "x"]]);
    assert!(one.config.model_pairs.is_empty());
    let models = &one.config.models;
    assert_eq!([&*models.encoder, &*models.decoder], ["a", "x"]);
    let report = report(&one);
    let json = serde_json::to_string(&report).unwrap();
    for word in ["modelPairs", "crossed", "->"] {
        assert!(!json.contains(word), "{word}");
    }
    assert_eq!(report.statistics.per_encoding[0].encoding_id, "rules");
    let html = page(&report).render().unwrap();
    assert!(!html.contains("Who can read whom"));
}

#[test]
fn a_plan_of_pairs_is_read_as_it_is_written() {
    let plan = with(&[["a", "a"], ["b", "b"]]);
    let json = serde_json::to_value(&plan).unwrap();
    let expected = serde_json::json!([
        {"encoder": "a", "decoder": "a"},
        {"encoder": "b", "decoder": "b"},
    ]);
    assert_eq!(json["config"]["modelPairs"], expected);
    assert_eq!(json["config"]["models"]["encoder"], "a");
    assert_eq!(serde_json::from_value::<Plan>(json).unwrap(), plan);
    assert_eq!(
        plan.differences(&with(&[["a", "a"]])),
        ["config.modelPairs"]
    );
}

#[test]
fn the_page_has_a_grid_of_encoders_and_decoders() {
    // One pair of the four is missing.
    let report = report(&with(&[["a", "x"], ["a", "y"], ["b", "x"]]));
    let html = page(&report).render().unwrap();
    let html = Html::parse_document(&html);
    let headings = texts(&html, "h2, h3");
    let heading = "Who can read whom";
    assert!(headings.iter().any(|one| one.contains(heading)));
    let captions = texts(&html, "caption");
    let caption = "Mean total with the rules rules";
    assert!(captions.iter().any(|one| one.contains(caption)));
    let heads = texts(&html, "th");
    for head in ["read by x", "read by y"] {
        assert!(heads.iter().any(|one| one.contains(head)), "{heads:?}");
    }
}

#[test]
fn runs_are_compared_by_encoding_and_models_and_a_text_counts_once() {
    let crossed = report(&crossed());
    let comparison = compare(&crossed, &crossed, Limits::from(Some(1.0)));
    assert!(comparison.holds, "{:?}", comparison.reasons);
    let encodings = comparison.per_encoding.iter();
    let ids: Vec<_> = encodings.map(|one| one.id.as_str()).collect();
    assert_eq!(ids, SYSTEMS);
    assert_eq!(comparison.overall.pairs, TEXTS.len());
    for case in &comparison.per_case {
        assert_eq!((case.pairs, case.p, case.ci95), (4, None, None));
    }

    // The pair of a run with one pair has another name, so nothing is compared.
    let one = report(&with(&[["b", "x"]]));
    let comparison = compare(&one, &crossed, Limits::default());
    assert_eq!(comparison.overall.pairs, 0);
    assert_eq!((comparison.missing.len(), comparison.added.len()), (2, 8));

    // Another model of a whole run is a change to compare.
    let other = report(&with(&[["c", "z"]]));
    let comparison = compare(&one, &other, Limits::default());
    assert_eq!(comparison.per_encoding[0].id, "rules");
    assert_eq!(comparison.overall.pairs, 2);
}

#[test]
fn a_part_is_selected_by_the_rules_or_by_the_system() {
    let whole = report(&crossed());
    let kept = |name: &str| {
        let mut part = whole.clone();
        part.retain_encodings(|id| id == name);
        (part.results.len(), part.encodings_left_out)
    };
    assert_eq!(kept("rules"), (8, 0));
    assert_eq!(kept(SYSTEMS[2]), (2, 3));
}

#[test]
fn a_contest_ranks_systems_with_their_models() {
    let texts: Vec<_> = (0..8)
        .map(|number| format!("text number {number}"))
        .collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let mut plan = plan(&texts);
    plan.config = crossed().config;
    let board = Board::of(&report(&plan), 0.0);
    let ranked = board.systems.iter().map(|one| &*one.statistics.encoding_id);
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_unstable();
    assert_eq!((ranked.as_slice(), board.texts), (&SYSTEMS[..], 8));
    assert!(board.out.is_empty(), "{:?}", board.out);
}

#[test]
fn a_log_of_inspect_has_the_hash_of_the_plan() {
    let plan = crossed();
    let log = export_inspect(&report(&plan));
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    assert_eq!(log["eval"]["metadata"]["planSha256"], plan.sha256());
    assert_eq!(log["eval"]["model"], "anthropic/a+b");
    assert_eq!(log["eval"]["dataset"]["samples"], 8);
}

#[test]
fn each_model_is_tried_with_its_temperature_before_the_others_spend() {
    let player = player().role(Role::Decoder, || Ok(says("read")));
    let mut plan = crossed();
    plan.config.temperature = Some(0.5);
    let player = player.holding();
    let mut most = 0;
    let report = Desk::default().run_held(&player, &plan, |_| {
        let asked = player.to(Role::Decoder);
        if asked.len() < 4 {
            most = most.max(player.held().len());
        }
        0
    });
    assert!(report.results.iter().all(|result| result.outcome.is_ok()));
    // Two judges of one experiment at a time.
    assert_eq!(most, 2);
}
