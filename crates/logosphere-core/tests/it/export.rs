//! Exports are read back by readers that share no code with the writers.

mod readers;

use std::io::{self, Write};

use logosphere_core::Transcript;
use logosphere_core::export::{ExportError, ExportFormat, ExportKind, export};
use logosphere_core::measures::lineage::Lineage;
use logosphere_core::measures::metrics::{Metric, Window, measure};
use logosphere_core::pool::MessageId;

use crate::scripted_run::{ScriptedRun, random_run};

/// Texts that try to leave their place.
const HOSTILE: [&str; 22] = [
    "a 'quoted' \"text\", 'twice'''",
    "\"",
    "'",
    "ends in \\",
    "\\\"; x -> y; \\N \\l",
    "]]> <!-- <data key=\"x\"> &amp; &lt;b&gt; &#65; &nope;",
    "nul \0 bell \u{7} esc \u{1b}[31m end",
    "line\nfeed\r\ncarriage\rreturn\ttab",
    "  spaces around  ",
    "=1+1",
    "+1",
    "-1",
    "@sum",
    "\tafter a tab",
    "\rafter a return",
    "(a,b)c:1[comment];",
    "a;b\n);",
    "no \u{fffe} \u{ffff} such",
    "bidi \u{202e}txet\u{202c} \u{2028} \u{85}",
    "{} [label=\"x\"] -- // /* # */",
    "</data></node>",
    "日本語 \u{1f980}",
];

/// A run in which hostile texts are read, copied and signed.
fn hostile_run() -> Transcript {
    let signed: Vec<String> = HOSTILE
        .iter()
        .map(|text| format!("{text}\n\n~'\"=,;"))
        .collect();
    let signed: Vec<&str> = signed.iter().map(String::as_str).collect();
    let all: Vec<u64> = (0..22).collect();
    ScriptedRun::new(500, &HOSTILE)
        .round(&[(&all, &signed[..11]), (&all[11..], &["a new thing"])])
        .round(&[(&all, &signed[11..]), (&[3, 23], &[])])
        .0
}

/// Hostile ones and ones at random, one of them with nothing in it.
fn runs() -> Vec<Transcript> {
    let mut runs = vec![hostile_run(), Transcript::default()];
    for seed in 0..6 {
        runs.push(random_run(seed, 30));
    }
    runs
}

fn written(run: &Transcript, kind: ExportKind, format: ExportFormat, raw: bool) -> String {
    let mut out = Vec::new();
    export(run, kind, format, raw, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Child, parent, whether it is the best one.
fn descent(run: &Transcript) -> Vec<(MessageId, MessageId, bool)> {
    let lineage = Lineage::of(run);
    let edges = lineage.nodes().iter().flat_map(|node| {
        let parents = node.parents.iter().enumerate();
        parents.map(|(place, parent)| (parent.id, node.id, place == 0))
    });
    edges.collect()
}

fn exposures(run: &Transcript) -> Vec<(MessageId, MessageId)> {
    let mut edges = Vec::new();
    for call in &run.calls {
        for &added in &call.added {
            edges.extend(call.sampled.iter().map(|&read| (read, added)));
        }
    }
    edges
}

#[test]
fn graphml_is_read_by_an_xml_reader() {
    for run in runs() {
        let graph = readers::graphml(&written(
            &run,
            ExportKind::Lineage,
            ExportFormat::Graphml,
            false,
        ));
        assert_eq!(graph.nodes.len(), run.messages.len());
        for (id, (node, message)) in graph.nodes.iter().zip(&run.messages).enumerate() {
            assert_eq!(node["id"], format!("n{id}"));
            assert_eq!(node["round"], message.round.to_string());
            assert_eq!(node["seed"], (id < run.seeds).to_string());
            let safe = |char| match char {
                '\u{9}' | '\u{a}' | '\u{d}' => char,
                '\u{0}'..'\u{20}' | '\u{fffe}'..='\u{ffff}' => '\u{fffd}',
                _ => char,
            };
            assert_eq!(
                node["text"],
                message.text.chars().map(safe).collect::<String>()
            );
        }
        let expected = descent(&run)
            .into_iter()
            .map(|(from, to, best)| (format!("n{from}"), format!("n{to}"), Some(best.to_string())));
        assert_eq!(graph.edges, expected.collect::<Vec<_>>());

        let graph = readers::graphml(&written(
            &run,
            ExportKind::Exposure,
            ExportFormat::Graphml,
            false,
        ));
        assert_eq!(graph.nodes.len(), run.messages.len());
        let expected = exposures(&run).into_iter();
        let expected = expected.map(|(from, to)| (format!("n{from}"), format!("n{to}"), None));
        assert_eq!(graph.edges, expected.collect::<Vec<_>>());
    }
}

#[test]
fn dot_is_read_token_by_token() {
    for run in runs() {
        let graph = readers::dot(&written(
            &run,
            ExportKind::Lineage,
            ExportFormat::Dot,
            false,
        ));
        assert_eq!(graph.nodes.len(), run.messages.len());
        for (id, (node, label)) in graph.nodes.iter().enumerate() {
            assert_eq!(*node, MessageId::at(id));
            let text = label.strip_prefix(&format!("{id}: ")).unwrap();
            assert!(!text.contains(char::is_control), "{text:?}");
            let stored = run.messages[id].text.chars();
            let mut shown = stored
                .zip(text.chars())
                .filter(|(stored, _)| !stored.is_whitespace());
            let same = |(stored, shown): (char, char)| stored == shown || shown == '\u{fffd}';
            assert!(shown.all(same), "{text:?}");
        }
        let expected = descent(&run).into_iter().map(|(from, to, _)| (from, to));
        assert_eq!(graph.edges, expected.collect::<Vec<_>>());
        let graph = readers::dot(&written(
            &run,
            ExportKind::Exposure,
            ExportFormat::Dot,
            false,
        ));
        assert_eq!(graph.edges, exposures(&run));
    }
}

#[test]
fn a_line_of_descent_may_be_longer_than_a_stack() {
    let mut run = ScriptedRun::new(3, &["word"]);
    for id in 0..50_000 {
        run = run.round(&[(&[id], &["word"])]);
    }
    let graph = written(&run.0, ExportKind::Lineage, ExportFormat::Dot, false);
    assert_eq!(graph.matches(" -> ").count(), 50_000);
    let summary = Lineage::of(&run.0).summary(&run.0, 10);
    assert_eq!((summary.deepest, summary.top.len()), (50_000, 1));
}

#[test]
fn csv_guards_against_formulas_unless_raw() {
    for run in runs() {
        for (kind, raw) in [
            (ExportKind::Messages, false),
            (ExportKind::Messages, true),
            (ExportKind::Lineage, false),
            (ExportKind::Lineage, true),
        ] {
            let rows = readers::csv(&written(&run, kind, ExportFormat::Csv, raw));
            assert_eq!(rows.len(), run.messages.len());
            for (id, (row, message)) in rows.iter().zip(&run.messages).enumerate() {
                assert_eq!(row["id"], id.to_string());
                let formula = message.text.starts_with(['=', '+', '-', '@', '\t', '\r']);
                let guard = if formula && !raw { "'" } else { "" };
                assert_eq!(row["text"], format!("{guard}{}", message.text));
            }
        }
        let rows = readers::csv(&written(
            &run,
            ExportKind::Lineage,
            ExportFormat::Csv,
            false,
        ));
        for (row, node) in rows.iter().zip(Lineage::of(&run).nodes()) {
            let parent = node.parent().map(|parent| parent.id.to_string());
            assert_eq!(row["parent"], parent.unwrap_or_default());
            assert_eq!(row["descendants"], node.descendants.to_string());
            let others: Vec<MessageId> = row["other_parents"]
                .split_whitespace()
                .map(|id| MessageId(id.parse().unwrap()))
                .collect();
            let expected = node.parents.iter().skip(1).map(|parent| parent.id);
            assert_eq!(others, expected.collect::<Vec<_>>());
        }
        let rows = readers::csv(&written(
            &run,
            ExportKind::Exposure,
            ExportFormat::Csv,
            false,
        ));
        let edges: Vec<(MessageId, MessageId)> = (rows.iter())
            .map(|row| {
                (
                    MessageId(row["source"].parse().unwrap()),
                    MessageId(row["target"].parse().unwrap()),
                )
            })
            .collect();
        assert_eq!(edges, exposures(&run));
    }
    let text = written(
        &hostile_run(),
        ExportKind::Messages,
        ExportFormat::Csv,
        false,
    );
    assert!(text.starts_with("id,round,mind,seed,model,read,signature,chars,text\r\n"));
    assert!(text.contains(",'=1+1\r\n") && text.contains(",'-1\r\n"));
}

#[test]
fn metrics_are_a_row_a_value() {
    let run = random_run(3, 70);
    let rows = readers::csv(&written(
        &run,
        ExportKind::Metrics,
        ExportFormat::Csv,
        false,
    ));
    let series = measure(&run, Window::Active, Metric::ALL, None);
    let points =
        (series.iter()).flat_map(|series| series.points.iter().map(move |point| (series, point)));
    let expected: Vec<Vec<String>> = points
        .map(|(series, point)| {
            vec![
                series.metric.to_string(),
                series.window.clone(),
                series.metric.encoder().unwrap_or_default().to_owned(),
                point.round.to_string(),
                point.n.to_string(),
                point
                    .value
                    .map(|value| value.to_string())
                    .unwrap_or_default(),
            ]
        })
        .collect();
    let columns = ["metric", "window", "encoder", "round", "n", "value"];
    let cells = |row: &readers::Fields| columns.map(|column| row[column].clone()).to_vec();
    assert_eq!(rows.iter().map(cells).collect::<Vec<_>>(), expected);

    let lines = readers::jsonl(&written(
        &run,
        ExportKind::Metrics,
        ExportFormat::Jsonl,
        false,
    ));
    assert_eq!(lines.len(), expected.len());
    for (line, row) in lines.iter().zip(&expected) {
        assert_eq!(line["metric"], row[0]);
        // Reading JSON rounds the last digit.
        let (found, expected) = (line["value"].as_f64(), row[5].parse::<f64>().ok());
        assert_eq!(found.is_some(), expected.is_some());
        assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12);
    }
}

#[test]
fn lines_of_json_keep_every_byte() {
    for run in runs() {
        for kind in [ExportKind::Messages, ExportKind::Lineage] {
            let lines = readers::jsonl(&written(&run, kind, ExportFormat::Jsonl, false));
            assert_eq!(lines.len(), run.messages.len());
            for (line, message) in lines.iter().zip(&run.messages) {
                assert_eq!(line["text"], message.text);
            }
        }
        let lines = readers::jsonl(&written(
            &run,
            ExportKind::Messages,
            ExportFormat::Jsonl,
            false,
        ));
        for (line, message) in lines.iter().zip(&run.messages) {
            let read = message.call.map(|call| run.calls[call].sampled.clone());
            assert_eq!(line["read"], serde_json::json!(read.unwrap_or_default()));
        }
        let lines = readers::jsonl(&written(
            &run,
            ExportKind::Exposure,
            ExportFormat::Jsonl,
            false,
        ));
        assert_eq!(lines.len(), exposures(&run).len());
    }
    let hostile = written(
        &hostile_run(),
        ExportKind::Messages,
        ExportFormat::Jsonl,
        false,
    );
    let signed = &readers::jsonl(&hostile)[22];
    assert_eq!(signed["signature"], "~'\"=,;");
    assert_eq!(signed["chars"], HOSTILE[0].chars().count());
}

#[test]
fn there_is_a_form_for_everything_or_an_error_that_says_which() {
    let all = [
        ExportFormat::Graphml,
        ExportFormat::Dot,
        ExportFormat::Csv,
        ExportFormat::Jsonl,
    ];
    let run = hostile_run();
    for kind in ExportKind::ALL.iter().copied() {
        for format in all {
            let mut out = Vec::new();
            match export(&run, kind, format, false, &mut out) {
                Ok(_) => assert!(kind.formats().contains(&format) && !out.is_empty()),
                Err(error) => {
                    assert!(!kind.formats().contains(&format) && out.is_empty());
                    assert!(matches!(error, ExportError::NoSuchForm { .. }), "{error}");
                }
            }
        }
    }
}

/// An output that accepts a limited number of bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 && !bytes.is_empty() {
            return Err(io::Error::other("full"));
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_is_full_is_an_error() {
    let run = hostile_run();
    for kind in ExportKind::ALL.iter().copied() {
        for &format in kind.formats() {
            let whole = written(&run, kind, format, false).len();
            assert!(export(&run, kind, format, false, Full(whole)).is_ok());
            for bytes in [0, 100, whole - 1] {
                let error = export(&run, kind, format, false, Full(bytes)).unwrap_err();
                assert!(
                    matches!(error, ExportError::Write(_)),
                    "{kind} {format} {bytes}"
                );
            }
        }
    }
}
