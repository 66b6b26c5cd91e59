//! The table for spreadsheets.

use std::sync::Arc;

use zer0gravity_engine::report::{CSV_COLUMNS, RunReport, export_csv};
use zer0gravity_engine::{StageName, StageStatus};

use super::sample::{failed, item, report, small, tokens};

/// The rows, each cell as its column promises: one apostrophe less where one was put.
fn read(csv: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().from_reader(csv.as_bytes());
    assert_eq!(
        reader.headers().unwrap().iter().collect::<Vec<_>>(),
        CSV_COLUMNS
    );
    let plain = |cell: &str| match cell.strip_prefix('\'') {
        Some(rest)
            if rest
                .trim_start_matches('\'')
                .starts_with(['=', '+', '-', '@', '\t']) =>
        {
            rest.to_owned()
        }
        _ => cell.to_owned(),
    };
    reader
        .records()
        .map(|row| row.unwrap().iter().map(plain).collect())
        .collect()
}

fn cell<'a>(row: &'a [String], column: &str) -> &'a str {
    let place = CSV_COLUMNS.iter().position(|name| *name == column);
    &row[place.unwrap()]
}

#[test]
fn every_value_comes_back() {
    let report = small();
    let rows = read(&export_csv(&report));
    assert_eq!(rows.len(), report.results.len());
    for (row, result) in rows.iter().zip(&report.results) {
        let number = |column| cell(row, column).parse::<f64>().ok();
        assert_eq!(cell(row, "encodingId"), result.encoding_id);
        assert_eq!(cell(row, "testCaseId"), result.test_case_id);
        assert_eq!(cell(row, "originalText"), &*result.original_text);
        assert_eq!(
            cell(row, "decodedText"),
            result.decoded_text.clone().unwrap_or_default()
        );
        assert_eq!(cell(row, "outcome"), result.outcome.status.as_str());
        assert_eq!(number("total"), result.total.map(f64::from));
        assert_eq!(
            number("compressionRatio").is_some(),
            result.compression_ratio.is_some()
        );
        assert_eq!(
            number("chrfPp"),
            result.metrics.as_ref().map(|metrics| metrics.chrf_pp)
        );
        assert_eq!(number("trial"), Some(f64::from(result.trial)));
        assert_eq!(cell(row, "tokenSource"), "api");
    }
    assert_eq!(cell(&rows[2], "flags"), "atom_loss");
    assert_eq!(cell(&rows[0], "total"), "75");
    assert_eq!(cell(&rows[11], "total"), "");
    assert_eq!(cell(&rows[11], "error"), "refused at decode: no reply");
}

#[test]
fn lines_end_as_the_standard_says() {
    let csv = export_csv(&small());
    assert_eq!(csv.matches("\r\n").count(), 13);
    assert_eq!(
        export_csv(&RunReport::read("[]").unwrap())
            .matches('\n')
            .count(),
        1
    );
}

#[test]
fn no_text_is_a_formula_and_numbers_stay_numbers() {
    let hostile = [
        "=HYPERLINK(\"http://x\")",
        "+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "'=quoted",
        "''@twice",
        "'plain",
        "a,b\"c\"\r\nd\re\n",
        " =1",
        "",
        "\u{feff}=1",
    ];
    for text in hostile {
        let mut item = tokens(item(text, text, text), 800, 898);
        item.encoded_text = Some(text.into());
        Arc::make_mut(&mut item.metadata.models).judges = vec![text.into()];
        item.metadata.provider = text.into();
        let mut other = failed(item.clone(), StageStatus::ApiError, StageName::Encode);
        other.error = Some(text.into());
        let csv = export_csv(&report(vec![item, other]));
        let rows = read(&csv);
        for column in [
            "encodingId",
            "testCaseId",
            "originalText",
            "encodedText",
            "judges",
            "provider",
        ] {
            assert_eq!(cell(&rows[0], column), text, "{column}");
        }
        assert_eq!(cell(&rows[1], "error"), text);
        assert_eq!(cell(&rows[0], "compressionPercent"), "-12.2");
        let mut raw = csv::ReaderBuilder::new().from_reader(csv.as_bytes());
        for row in raw.records() {
            for (value, column) in row.unwrap().iter().zip(CSV_COLUMNS) {
                let number = value.parse::<f64>().is_ok() && column.starts_with("compression");
                assert!(
                    number || !value.starts_with(['=', '+', '-', '@', '\t']),
                    "{column}: {value:?}"
                );
            }
        }
    }
}
