//! `hermitcrab.toml`: what is refused, and where.

use hermitcrab_kernel::config::{Settings, ThinkingMode};

#[test]
fn the_file_of_defaults_says_what_the_defaults_are() {
    assert_eq!(
        Settings::parse(Settings::DEFAULT_FILE).unwrap(),
        Settings::default()
    );
    assert_eq!(Settings::parse("").unwrap(), Settings::default());
    // What is commented out can be switched on.
    let all = Settings::DEFAULT_FILE
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(setting) if setting.contains(" = ") && !setting.contains(": ") => setting,
            _ => line,
        })
        .collect::<Vec<_>>()
        .join("\n");
    let settings = Settings::parse(&all).unwrap();
    let first = &settings.models[0];
    assert_eq!(first.effort.as_deref(), Some("high"));
    assert!(first.max_tokens.is_some() && first.api_version.is_some());
    assert!(first.price.is_some());
    assert!(settings.web.search_tool.is_some() && settings.web.searxng.is_some());
}

#[test]
fn a_chain_of_ones_own_takes_the_place_of_the_default() {
    let text = "[[model]]\nid = \"m\"\nthinking = \"budget:2048\"\n[budgets]\nday_usd = 1\n";
    let settings = Settings::parse(text).unwrap();
    assert_eq!(settings.models.len(), 1);
    assert_eq!(settings.models[0].thinking, ThinkingMode::Budget(2_048));
    assert!((settings.budgets.day_usd - 1.0).abs() < f64::EPSILON);
    assert_eq!(settings.fast, Settings::default().fast);
}

#[test]
fn what_cannot_hold_is_refused_with_its_place() {
    let cases = [
        ("\nfallbak = true\n", 2, 1, "unknown field `fallbak`"),
        (
            "[[model]]\nid = \"m\"\nprize = 1\n",
            3,
            1,
            "unknown field `prize`",
        ),
        ("[budgets]\nturn = 1\n", 2, 1, "unknown field `turn`"),
        ("[[model]]\nid = \"\"\n", 2, 6, "be the id of a model"),
        (
            "[[model]]\nid = \"two words\"\n",
            2,
            6,
            "be the id of a model",
        ),
        (
            "[[model]]\nthinking = \"off\"\n",
            1,
            1,
            "missing field `id`",
        ),
        (
            "[[model]]\nid = \"m\"\nthinking = \"hard\"\n",
            3,
            12,
            "not \"hard\"",
        ),
        (
            "[[model]]\nid = \"m\"\nthinking = \"budget:10\"\n",
            3,
            12,
            "1024 or more",
        ),
        ("[[model]]\nid = \"m\"\nmax_tokens = 0\n", 3, 14, "it is 0"),
        (
            "[[model]]\nid = \"m\"\napi_version = \"1999\"\n",
            3,
            15,
            "2026-10-21",
        ),
        (
            "[[model]]\nid = \"m\"\n[[model]]\nid = \"m\"\n",
            1,
            1,
            "named twice",
        ),
        ("model = []\n", 1, 9, "no model"),
        (
            "[fast]\nid = \"m\"\nprice = { input = -1, output = 1, date = \"2026-11-22\" }\n",
            3,
            19,
            "-1 is not an amount",
        ),
        (
            "[fast]\nid = \"m\"\nprice = { input = nan, output = 1, date = \"2026-11-22\" }\n",
            3,
            19,
            "not an amount",
        ),
        (
            "[fast]\nid = \"m\"\nprice = { input = 1, output = 1, date = \"yesterday\" }\n",
            3,
            41,
            "",
        ),
        (
            "[fast]\nid = \"m\"\nprice = { input = 1, output = 1 }\n",
            3,
            9,
            "missing field `date`",
        ),
        ("[budgets]\nrounds = 0\n", 2, 10, "it is 0"),
        ("[budgets]\nrounds = -1\n", 2, 10, ""),
        ("[budgets]\nturn_usd = 0.0\n", 2, 12, "it is 0"),
        ("[web]\nsearxng = \"file:///etc\"\n", 2, 11, "http"),
        ("[budgets\n", 1, 9, ""),
        ("# ä\nfast = 3\n", 2, 8, ""),
    ];
    for (text, line, column, message) in cases {
        let error = Settings::parse(text).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
        assert_eq!(
            (error.line, error.column),
            (line, column),
            "{text}: {error}"
        );
        assert!(!error.to_string().contains('\n'));
    }
}
