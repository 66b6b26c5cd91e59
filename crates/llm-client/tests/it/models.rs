use llm_client::error::UnavailableModel;
use llm_client::models::{Model, ModelStatus, ModelThinking};
use llm_client::{ConfigError, Cost, CostSource, ModelTable, Usage, Usd};

fn model(id: &str) -> Model {
    let table = ModelTable::embedded();
    table
        .find("anthropic", id)
        .cloned()
        .unwrap_or_else(|| Model::unknown("anthropic", id))
}

fn usage(input: u64, write_5m: u64, write_1h: u64, read: u64, output: u64) -> Usage {
    let mut usage = Usage::default();
    usage.input = input;
    usage.cache_write_5m = write_5m;
    usage.cache_write_1h = write_1h;
    usage.cache_read = read;
    usage.output = output;
    usage.known = true;
    usage
}

fn table(rows: &str) -> Result<ModelTable, ConfigError> {
    ModelTable::parse(&format!(
        "{{\"schema_version\": 1, \"read_on\": \"2026-12-01\", \"models\": [\n{rows}\n]}}"
    ))
}

/// The error of a table with these rows, the first of which is on line 2.
fn fault(rows: &str) -> String {
    table(rows).map_or_else(|error| error.to_string(), |table| format!("{table:?}"))
}

#[test]
fn cost_is_the_exact_sum_in_nano_dollars() {
    for (id, usage, nanos) in [
        // 1 x 4000 + 2 x 5000 + 3 x 8000 + 4 x 200 + 5 x 20000.
        ("claude-opus-5-5", usage(1, 2, 3, 4, 5), 138_800),
        (
            "claude-sonnet-4-5",
            usage(1_000_000, 0, 0, 0, 1_000_000),
            18_000_000_000,
        ),
        (
            "claude-haiku-5-5",
            usage(3, 3, 3, 3, 3),
            300 + 375 + 600 + 30 + 1500,
        ),
        ("claude-opus-5-5", usage(0, 0, 0, 0, 0), 0),
    ] {
        assert_eq!(model(id).cost(&usage), Some(Usd(nanos)), "{id}");
    }
}

#[test]
fn cost_is_rounded_up_once_and_not_for_each_part() {
    let cheap = table(
        r#"{"provider": "p", "id": "m", "price": {"in": "0.0004", "out": "0.0004", "cache_read": "0.000000001"}}"#,
    )
    .unwrap();
    let cheap = cheap.find("p", "m").unwrap();
    // 0.4 nano-dollars a token.
    assert_eq!(cheap.cost(&usage(1, 0, 0, 0, 1)), Some(Usd(1)));
    assert_eq!(cheap.cost(&usage(3, 0, 0, 0, 2)), Some(Usd(2)));
    assert_eq!(cheap.cost(&usage(3, 0, 0, 1, 2)), Some(Usd(3)));
}

#[test]
fn cost_of_a_tier_goes_by_the_whole_prompt() {
    let haiku = model("claude-haiku-5-5");
    assert_eq!(
        haiku.cost(&usage(100_000, 0, 0, 0, 0)),
        Some(Usd(10_000_000))
    );
    assert_eq!(
        haiku.cost(&usage(100_001, 0, 0, 0, 0)),
        Some(Usd(50_000_500))
    );
    // All three inputs added; the reply does not count.
    assert_eq!(
        haiku.cost(&usage(1, 0, 0, 99_999, 2)),
        Some(Usd(100 + 999_990 + 1000))
    );
    assert_eq!(
        haiku.cost(&usage(2, 0, 0, 99_999, 2)),
        Some(Usd(1000 + 4_999_950 + 5000))
    );
}

#[test]
fn cost_holds_the_searches_and_is_none_when_a_price_is_missing() {
    let mut searched = usage(1, 0, 0, 0, 0);
    searched
        .server_tools
        .insert("web_search_requests".into(), 2);
    searched.server_tools.insert("other_requests".into(), 0);
    assert_eq!(
        model("claude-opus-5-5").cost(&searched),
        Some(Usd(20_004_000))
    );
    searched.server_tools.insert("other_requests".into(), 1);
    assert_eq!(model("claude-opus-5-5").cost(&searched), None);

    let haiku = model("claude-haiku-4-5");
    assert_eq!(haiku.cost(&usage(1, 0, 0, 0, 1)), Some(Usd(6000)));
    assert_eq!(
        haiku.cost(&usage(1, 0, 0, 1, 1)),
        None,
        "its cache prices are not known"
    );
    assert_eq!(haiku.priced(&usage(1, 0, 0, 1, 1)), Cost::UNKNOWN);
    assert_eq!(model("claude-next").cost(&usage(1, 0, 0, 0, 1)), None);
}

#[test]
fn cost_too_large_to_hold_is_none() {
    let opus = model("claude-opus-5-5");
    let all = u64::MAX;
    assert_eq!(opus.cost(&usage(all, all, all, all, all)), None);
    assert_eq!(opus.cost(&usage(all, 0, 0, 0, 0)), None);
    assert_eq!(opus.max_cost(all, all), None);
}

#[test]
fn cost_by_the_table_names_its_day() {
    let read_on = "2026-11-21".into();
    assert_eq!(
        model("claude-opus-5-5").priced(&usage(1, 0, 0, 0, 0)),
        Cost::new(Usd(4000), CostSource::Table { read_on })
    );
}

#[test]
fn cost_at_its_dearest_takes_the_dearest_input_of_this_tier_or_a_higher_one() {
    assert_eq!(
        model("claude-opus-5-5").max_cost(10, 10),
        Some(Usd(80_000 + 200_000))
    );
    // The estimate of the prompt may be low, so the tier above counts too.
    assert_eq!(
        model("claude-haiku-5-5").max_cost(10, 10),
        Some(Usd(10_000 + 25_000))
    );
    assert_eq!(model("claude-3-5-sonnet-20241022").max_cost(10, 10), None);
}

#[test]
fn models_are_found_by_id_alias_and_pattern() {
    assert_eq!(model("claude-sonnet-4-5-20250929").id, "claude-sonnet-4-5");
    assert_eq!(
        model("claude-3-5-sonnet-20241022").status,
        ModelStatus::Retired
    );
    let table = ModelTable::embedded();
    assert!(table.find("anthropic", "claude-3-5-sonnet").is_none());
    assert!(table.find("openrouter", "claude-opus-5-5").is_none());
    assert!(
        table
            .find("openrouter", "anthropic/claude-3.5-sonnet")
            .unwrap()
            .reports_cost
    );

    let patterns = self::table(
        r#"{"provider": "p", "id": "*", "context": 1},
           {"provider": "p", "id": "big-*", "context": 2},
           {"provider": "p", "id": "x", "aliases": ["big-x"], "context": 3},
           {"provider": "p", "id": "big-y", "context": 4}"#,
    )
    .unwrap();
    for (id, context) in [
        ("any", 1),
        ("big-z", 2),
        ("big-x", 3),
        ("x", 3),
        ("big-y", 4),
    ] {
        assert_eq!(
            patterns.find("p", id).unwrap().context,
            Some(context),
            "{id}"
        );
    }
}

#[test]
fn the_start_values_are_those_of_the_specification() {
    let opus = model("claude-opus-5-5");
    assert_eq!(
        (opus.context, opus.max_output),
        (Some(1_000_000), Some(128_000))
    );
    assert_eq!(opus.thinking, ModelThinking::AdaptiveOnly);
    assert!(!opus.forced_tools && !opus.prefill && opus.verified);
    let sonnet = model("claude-sonnet-4-5");
    assert_eq!(sonnet.thinking, ModelThinking::Budget);
    assert_eq!(sonnet.status, ModelStatus::Unknown);
    assert!(sonnet.sampling && sonnet.prefill && !sonnet.verified);
    assert!(!model("claude-sonnet-5-5").verified && !model("claude-haiku-5-5").verified);
}

#[test]
fn a_model_nobody_knows_takes_whatever_is_asked() {
    let unknown = model("claude-next");
    assert_eq!(unknown.thinking, ModelThinking::Both);
    assert!(unknown.sampling && unknown.forced_tools && unknown.prefill && unknown.structured);
    assert_eq!((unknown.context, unknown.max_output), (None, None));
}

#[test]
fn cost_and_all_else_are_overridden_by_a_users_row_field_by_field() {
    let user = table(
        r#"{"provider": "anthropic", "id": "claude-haiku-5-5", "price": {"in": "7", "out": "9"}},
           {"provider": "anthropic", "id": "claude-sonnet-4-5-20250929", "max_output": 5},
           {"provider": "local", "id": "llama", "price": {"in": "0", "out": "0"}}"#,
    )
    .unwrap();
    let merged = ModelTable::embedded().overridden_by(&user);
    assert_eq!(merged.as_of().to_string(), "2026-12-01");

    let haiku = merged.find("anthropic", "claude-haiku-5-5").unwrap();
    assert_eq!(haiku.thinking, ModelThinking::AdaptiveOnly);
    assert_eq!(haiku.max_output, Some(128_000));
    assert_eq!(
        haiku.cost(&usage(200_000, 0, 0, 0, 1)),
        Some(Usd(1_400_009_000))
    );
    let by_user = CostSource::Table {
        read_on: "2026-12-01".into(),
    };
    assert_eq!(haiku.priced(&usage(1, 0, 0, 0, 0)).from, by_user);

    // By its alias: the same row, and its prices are as old as before.
    let sonnet = merged.find("anthropic", "claude-sonnet-4-5").unwrap();
    assert_eq!(sonnet.max_output, Some(5));
    assert_eq!(sonnet.priced_on.unwrap().to_string(), "2026-11-21");

    let llama = merged.find("local", "llama").unwrap();
    assert_eq!(llama.cost(&usage(5, 0, 0, 0, 5)), Some(Usd::ZERO));
    assert_eq!(
        merged.models().count(),
        ModelTable::embedded().models().count() + 1
    );
}

#[test]
fn faults_of_a_table_name_their_line() {
    let head = r#"{"provider": "p", "id": "a"},"#;
    for (rows, message) in [
        (r#"{"provider": "p", "id": }"#, "line 2: expected value"),
        (r#"{"provider": "p"}"#, "line 2: missing field `id`"),
        (
            r#"{"provider": "", "id": "m"}"#,
            "line 2: provider and id are never empty",
        ),
        (
            "{\"provider\": \"p\", \"id\": \"m\",\n\"price\": {\"in\": \"1\", \"out\": \"2\",\n\"inn\": \"3\"}}",
            "line 4: unknown field `inn`",
        ),
        (
            "{\"provider\": \"p\", \"id\": \"m\",\n\"colour\": 1}",
            "line 3: unknown field `colour`",
        ),
        (
            r#"{"provider": "p", "id": "m", "price": {"in": "-1", "out": "2"}}"#,
            "line 2: expected dollars such as 5 or 0.125",
        ),
        (
            r#"{"provider": "p", "id": "m", "price": {"in": 0.1, "out": "2"}}"#,
            "line 2: invalid type: floating point `0.1`, expected dollars as a text such as \"0.125\"",
        ),
        (
            r#"{"provider": "p", "id": "m", "status": "gone"}"#,
            "line 2: unknown variant `gone`",
        ),
        (
            r#"{"provider": "p", "id": "m", "retired_at": "soon"}"#,
            "line 2: ",
        ),
        (
            r#"{"provider": "p", "id": "m", "price": {"in": "1", "out": "2"}, "tiers": []}"#,
            "line 2: m has price and tiers",
        ),
        (
            r#"{"provider": "p", "id": "m", "tiers": [{"up_to_prompt": 5, "price": {"in": "1", "out": "2"}}]}"#,
            "line 2: the tiers of m rise in up_to_prompt, and only the last has none",
        ),
    ] {
        let shown = fault(rows);
        assert!(
            shown.starts_with(&format!("models table, {message}")),
            "{rows}: {shown}"
        );
    }
    for twice in [
        r#"{"provider": "p", "id": "a"}"#,
        r#"{"provider": "p", "id": "b", "aliases": ["a"]}"#,
    ] {
        let shown = fault(&format!("{head}\n{twice}"));
        assert_eq!(shown, "models table, line 3: a of p is there twice");
    }
    let other = r#"{"schema_version": 2, "read_on": "2026-12-01", "models": []}"#;
    assert!(ModelTable::parse(other).is_err());
    let no_day = r#"{"schema_version": 1, "read_on": "today", "models": []}"#;
    assert!(ModelTable::parse(no_day).is_err());
}

#[test]
fn a_model_that_is_gone_is_told_in_one_line() {
    let told = |provider: &str, model: &str| {
        let mut unavailable = UnavailableModel::new(provider, model, 404);
        ModelTable::embedded().explain(&mut unavailable);
        unavailable.to_string()
    };
    assert_eq!(
        told("anthropic", "claude-3-5-sonnet-20241022"),
        "model claude-3-5-sonnet-20241022 is not available at anthropic (HTTP 404); retired 2025-10-28 per models \
         file of 2026-11-21; active: claude-opus-5-5, claude-opus-5, claude-fable-5-1, claude-sonnet-5-5, \
         claude-haiku-5-5"
    );
    // Nothing to suggest: the table knows it as served, and why it is not the server says.
    assert_eq!(
        told("anthropic", "claude-opus-5"),
        "model claude-opus-5 is not available at anthropic (HTTP 404)"
    );
    // One that the table does not know.
    assert_eq!(
        told("anthropic", "claude-opus-9"),
        "model claude-opus-9 is not available at anthropic (HTTP 404); active: claude-opus-5-5, claude-opus-5, \
         claude-fable-5-1, claude-sonnet-5-5, claude-haiku-5-5"
    );
    assert_eq!(
        told("openrouter", "anthropic/claude-3.5-sonnet"),
        "model anthropic/claude-3.5-sonnet is not available at openrouter (HTTP 404); retired 2025-10-28 per models \
         file of 2026-11-21"
    );
}
