//! Hostile texts of a model or a damaged database on a page.

use popper_discovery::report::{DiscoveryReport, page};
use popper_discovery::store::{CallRow, LawStatus, ModelCallRow, RunRow};
use popper_discovery::{Error, MemoryStore};
use popper_harness::decide::Status;
use scraper::Html;
use serde_json::{Value, json};
use test_support::page::{check_nothing_comes_from_a_text, texts};

use crate::page::{html, small_run};

/// Texts that have broken out of other pages.
const HOSTILE: [&str; 7] = [
    "<script>alert(1)</script>",
    "</script></style></title></svg></table></details><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)\" ' autofocus onfocus='alert(1)",
    "--><!-- ]]><![CDATA[<svg onload=alert(1)>",
    "\u{202e}live\u{2066}\u{200b}\u{feff} \u{1b}[31m\0\u{7f}",
    "javascript:alert(1) https://example.org/?q=<base href=//example.org>",
    "line\u{2028}line\r\nline\tline {{constructor}} ${alert(1)}",
];

/// Sets a value inside of a JSON column.
fn edit(column: &mut String, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_str(column).unwrap();
    change(&mut value);
    *column = value.to_string();
}

/// Writes a text into every column that takes one.
pub(crate) fn fill(store: &mut MemoryStore, run: &mut RunRow, text: &str) {
    run.universe_id = text.into();
    run.discovery_model_id = text.into();
    for law in &mut store.laws {
        law.law_id = text.into();
        law.claim_text = text.into();
        law.forbidden_text = text.into();
        law.raw_llm_json = text.into();
        if law.status == LawStatus::RejectedSchema {
            edit(&mut law.normalized_json, |normal| {
                normal["problems"] = json!([{"path": text, "message": text}]);
            });
        }
    }
    for iteration in &mut store.iterations {
        edit(iteration.summary_json.as_mut().unwrap(), |summary| {
            summary["research_log"] = format!("{text}{}", iteration.id).into();
            summary["problem"] = text.into();
        });
    }
    for row in &mut store.evaluations {
        row.notes = text.into();
        edit(&mut row.evidence_json, |evidence| {
            evidence["scope"] = text.into();
            evidence["horizon"]["note"] = text.into();
        });
        if row.status == Status::Unknown {
            row.reason_code = Some(text.into());
            let law = &mut store.laws[row.law_id as usize - 1];
            law.template = text.into();
            edit(&mut law.normalized_json, |normal| {
                normal["claim_ast"] = json!({"obs": text, "t": text});
                normal["preconditions"] = json!([{"lhs": text, "op": text, "rhs": text}]);
                normal["quantifiers"] = json!({"T": text});
            });
        }
    }
    for row in &mut store.counterexamples {
        edit(&mut row.witness_json, |witness| {
            *witness = json!({"now": {text: text}, "next": {text: 1}, "left": text, "op": text, "right": text});
        });
    }
    store.calls = vec![CallRow {
        id: 1,
        run_id: run.id,
        iteration_id: 1,
        turn: 0,
        created_at: run.created_at,
        call: ModelCallRow {
            model_id: text.into(),
            prompt_hash: text.into(),
            request_json: text.into(),
            reply_text: text.into(),
            usage_json: "{}".into(),
        },
    }];
}

#[tokio::test]
async fn no_element_and_no_attribute_comes_from_a_row() {
    let (store, run) = small_run().await;
    let (mut tame, mut tame_run) = (store.clone(), run.clone());
    fill(&mut tame, &mut tame_run, "plain");
    let tame = Html::parse_document(&html(&mut tame, &tame_run).await);
    for text in HOSTILE {
        let (mut store, mut run) = (store.clone(), run.clone());
        fill(&mut store, &mut run, text);
        let html = html(&mut store, &run).await;
        let page = Html::parse_document(&html);
        check_nothing_comes_from_a_text(&page, &tame, text);
        // It is there, to be read.
        let shown = report_kit::visible(text);
        let headings = texts(&page, "small.id");
        let name: String = shown.trim().chars().take(10).collect();
        let named = |heading: &String| heading.trim().starts_with(&name);
        assert!(headings.iter().any(named), "{text:?}: {headings:?}");
        let raw: Value = serde_json::from_str(&texts(&page, "#data-report").concat()).unwrap();
        assert_eq!(raw["laws"][0]["claim"], text);
    }
}

#[tokio::test]
async fn texts_of_a_megabyte_are_cut() {
    let (mut store, mut run) = small_run().await;
    let text = "a<\u{202e} ".repeat(200_000);
    // No law of such a size is ever accepted, so an accepted one is a broken row; the others are shown.
    let first = |status| {
        let row = store.evaluations.iter().find(|row| row.status == status);
        row.unwrap().id
    };
    let kept = [first(Status::Fail), first(Status::Unknown)];
    store
        .keys
        .retain(|_, key| kept.contains(&key.evaluation_id));
    fill(&mut store, &mut run, &text);
    let report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
    let html = page(&report).render().unwrap();
    let data = serde_json::to_string(&report).unwrap().len();
    assert!(
        html.len() < 2 * data + 2_000_000,
        "{} bytes, {data} of data",
        html.len()
    );
}

type Damage = fn(&mut MemoryStore);

/// The law that a verdict stands for.
fn law_with(store: &mut MemoryStore, status: Status) -> usize {
    let row = store
        .evaluations
        .iter()
        .find(|row| row.status == status)
        .unwrap();
    row.law_id as usize - 1
}

const DAMAGES: [(&str, Damage); 19] = [
    ("config_json", |s| s.runs[0].config_json = "half a".into()),
    ("config_json", |s| s.runs[0].config_json = "{}".into()),
    ("config_json", |s| {
        edit(&mut s.runs[0].config_json, |c| {
            c["universe"] = json!("flatland");
        });
    }),
    ("summary_json", |s| {
        s.iterations[0].summary_json = Some("[]".into());
    }),
    ("normalized_json", |s| {
        let law = law_with(s, Status::Pass);
        s.laws[law].normalized_json = "law".into();
    }),
    ("normalized_json", |s| {
        let law = law_with(s, Status::Pass);
        s.laws[law].normalized_json = "{}".into();
    }),
    ("normalized_json", |s| {
        let law = law_with(s, Status::Fail);
        s.laws[law].normalized_json = "[".repeat(100_000);
    }),
    ("normalized_json", |s| {
        let row = s
            .laws
            .iter_mut()
            .find(|row| row.status == LawStatus::RejectedSchema)
            .unwrap();
        row.normalized_json = r#"{"problems": 3}"#.into();
    }),
    ("evidence_json", |s| {
        s.evaluations[0].evidence_json = r#"{"scope": 1}"#.into();
    }),
    ("power_metrics_json", |s| {
        s.evaluations[0].power_metrics_json = "null".into();
    }),
    ("counterexample_id", |s| {
        let row = s
            .evaluations
            .iter_mut()
            .find(|row| row.status == Status::Fail)
            .unwrap();
        row.counterexample_id = None;
    }),
    ("counterexample_id", |s| {
        let row = s
            .evaluations
            .iter_mut()
            .find(|row| row.status == Status::Pass)
            .unwrap();
        row.counterexample_id = Some(1);
    }),
    ("artifacts_json", |s| {
        s.evaluations
            .iter_mut()
            .for_each(|row| row.artifacts_json.clear());
    }),
    ("config_json", |s| {
        s.counterexamples[0].config_json = "{}".into();
    }),
    ("config_json", |s| {
        edit(&mut s.counterexamples[0].config_json, |c| {
            c["law"] = json!({"template": "axiom"});
        });
    }),
    ("initial_state", |s| {
        s.counterexamples[0].initial_state = "><?".into();
    }),
    ("initial_state", |s| {
        s.counterexamples[0].initial_state.clear();
    }),
    ("witness_json", |s| {
        s.counterexamples[0].witness_json = r#"{"now": []}"#.into();
    }),
    ("trajectory_excerpt_json", |s| {
        s.counterexamples[0].trajectory_excerpt_json = "0".into();
    }),
];

#[tokio::test]
async fn a_broken_row_is_an_error_that_names_it() {
    let (store, _) = small_run().await;
    for (number, (wanted, damage)) in DAMAGES.iter().enumerate() {
        let mut store = store.clone();
        damage(&mut store);
        let run = store.runs[0].clone();
        match DiscoveryReport::gather(&mut store, &run).await {
            Err(Error::Row {
                column, message, ..
            }) => {
                assert_eq!(column, *wanted, "{number}: {message}");
            }
            other => panic!(
                "{number} ({wanted}): {:?}",
                other.map(|report| report.verdicts)
            ),
        }
    }
    let mut store = store;
    let mut run = store.runs[0].clone();
    fill(&mut store, &mut run, "x");
    store.calls[0].call.usage_json = r#"{"input_tokens": -1}"#.into();
    assert!(matches!(
        DiscoveryReport::gather(&mut store, &run).await,
        Err(Error::Row {
            table: "llm_calls",
            column: "usage_json",
            ..
        })
    ));
}

#[tokio::test]
async fn absurd_numbers_are_shown_or_refused() {
    let (store, run) = small_run().await;
    for t_fail in [u64::MAX, u64::MAX - 1, 1 << 40, 41, 3] {
        let mut store = store.clone();
        for row in &mut store.counterexamples {
            row.t_fail = t_fail;
            row.t = u64::MAX;
            row.seed = u64::MAX;
        }
        store.iterations[0].iteration_index = u32::MAX;
        let html = html(&mut store, &run).await;
        assert!(html.contains(&t_fail.to_string()));
    }
    // A ring that is too wide to be drawn, and one that is drawn in part.
    for (cells, note) in [
        (100_000, "Cells 0 to 95 of a ring of 100000"),
        (1_000_000, "too long to be drawn again"),
    ] {
        let mut store = store.clone();
        for row in &mut store.counterexamples {
            row.initial_state = ".>".repeat(cells / 2);
        }
        let report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
        let mut notes = report.laws.iter().filter_map(|law| law.refutation.as_ref());
        let diagrams = &notes.next().unwrap().diagrams;
        let shown = diagrams[0].note.as_ref().unwrap();
        assert!(shown.contains(note), "{shown}");
        assert!(diagrams[0].rows.iter().all(|row| row.len() <= 96));
    }
}
