//! The page of a sweep.

use report_kit::{Axis, Cell, Page, Plot, Point, Section, Series, Status, Table};

use super::effect::Effect;
use super::summary::{CellSummary, CellVerdict, SweepSummary};
use crate::measures::metrics::Metric;
use crate::measures::verdict::p_value;
use crate::study::unreadable;

const MADE_AGAIN: &str = "The sweep makes a run again once its folder is moved away.";

/// The largest number of phase tables on a page.
const TABLES: usize = 20;

/// Returns the page of a sweep: one file that uses no network, with the same bytes for the same runs.
pub fn page(summary: &SweepSummary) -> Page {
    let cells = summary.cells.len();
    let runs: usize = summary.cells.iter().map(|cell| cell.repeats).sum();
    let title = format!("Sweep {}: {cells} cells, {runs} runs", summary.name);
    let mut page = Page::new(title).lead(lead(summary));
    if !summary.axes.is_empty() {
        page = page.section(phases(summary));
    }
    page = page.section(verdicts(summary));
    if !summary.unreadable.is_empty() {
        page = page.section(unreadable::section(&summary.unreadable, MADE_AGAIN));
    }
    if let Some(vectors) = vectors(summary) {
        page = page.section(vectors);
    }
    page.section(charts(summary))
        .section(effects(summary).folded())
        .provenance(provenance(summary))
        .data("summary", summary)
}

/// Counts the cells by their verdicts.
fn lead(summary: &SweepSummary) -> String {
    let count = |verdict| {
        let cells = summary.cells.iter();
        cells.filter(|cell| cell.verdict == verdict).count()
    };
    format!(
        "Of {} cells {} show selection (S), {} agreement of their repeats without a word that is favoured (A), and {} no more than drift (D). {} are undecided (U): their repeats are too few to tell.",
        summary.cells.len(),
        count(CellVerdict::Selection),
        count(CellVerdict::Agreement),
        count(CellVerdict::Drift),
        count(CellVerdict::Undecided),
    )
}

fn status(verdict: CellVerdict) -> Status {
    match verdict {
        CellVerdict::Selection => Status::Good,
        CellVerdict::Agreement => Status::Info,
        CellVerdict::Drift => Status::Neutral,
        CellVerdict::Undecided => Status::Caution,
    }
}

fn phases(summary: &SweepSummary) -> Section {
    let tables = summary.phase_tables();
    let count = tables.len();
    let mut section = Section::new("Phases").anchor("phases").text(
        "The verdict of each cell, and the mean similarity of two messages of one window over its repeats.",
    );
    for table in tables.into_iter().take(TABLES) {
        let (axis, columns) = table.columns;
        let header = columns.iter().map(|column| match axis {
            "" => "verdict".to_owned(),
            axis => format!("{axis} {column}"),
        });
        let header = std::iter::once(table.rows.0.to_owned()).chain(header);
        let rows = table.rows.1.into_iter().zip(table.cells);
        let rows = rows.map(|(value, cells)| {
            let cells = cells.into_iter();
            let cells = cells.map(|cell| Cell::badge(cell.phase(), status(cell.verdict)));
            std::iter::once(Cell::code(value))
                .chain(cells)
                .collect::<Vec<_>>()
        });
        let title = match table.further.as_str() {
            "" => "Verdict and similarity".to_owned(),
            further => format!("Verdict and similarity with {further}"),
        };
        section = section.table(Table::new(title, header).rows(rows));
    }
    if count > TABLES {
        section = section.text(format!("{} more tables are left out.", count - TABLES));
    }
    section
}

fn verdicts(summary: &SweepSummary) -> Section {
    let p = |p: Option<f64>| p.map_or(Cell::Missing, |p| Cell::text(p_value(p)));
    let rows = summary.cells.iter().map(|cell| {
        [
            Cell::code(&cell.key),
            cell.repeats.into(),
            Cell::badge(cell.verdict.letter().to_string(), status(cell.verdict)),
            p(cell.choice_p_holm),
            p(cell.agreement_p_holm),
            (cell.tests.as_ref()).map_or(Cell::Missing, |tests| Cell::number(tests.power, 2)),
            Cell::text(&cell.sentence),
        ]
    });
    let columns = [
        "Cell",
        "Runs",
        "Verdict",
        "Choice",
        "Agreement",
        "Power",
        "In words",
    ];
    Section::new("Verdicts")
        .anchor("verdicts")
        .text("The runs of a cell are in cells/CELL/r000, r001 and so on; `logosphere report` makes the page of one.")
        .table(Table::new("Cells", columns).rows(rows))
}

/// The measures of each cell by the vectors of an encoder.
fn vectors(summary: &SweepSummary) -> Option<Section> {
    let cells = || {
        let cells = summary.cells.iter();
        cells.filter_map(|cell| Some((&cell.key, cell.embedded.as_ref()?)))
    };
    let (_, first) = cells().next()?;
    let rows = cells().flat_map(|(key, cell)| {
        cell.effects.iter().map(move |effect| {
            [
                Cell::code(key),
                Cell::text(effect.measure.title()),
                effect.repeats.into(),
                Cell::interval(effect.mean, effect.low, effect.high, 3),
            ]
        })
    });
    let columns = ["Cell", "Measure", "Runs", "Mean"];
    let section = Section::new("Measures by vectors").anchor("vectors").text(
        "Means over the repeats with their 95 % intervals. They are a description: nothing here is compared with chance.",
    );
    Some(
        section
            .facts([
                ("Encoder", Cell::code(&first.encoder.name)),
                ("SHA-256 of the encoder", Cell::code(&first.encoder.sha256)),
            ])
            .table(Table::new("Measures by vectors", columns).rows(rows)),
    )
}

/// A chart for each measure: its mean in each cell with the 95 % interval over the repeats.
fn charts(summary: &SweepSummary) -> Section {
    let section = Section::new("Measures by cell").anchor("measures").text(
        "The mean over the repeats with its 95 % interval. Cells are numbered in the order of the plan.",
    );
    let charts = Metric::ALL
        .iter()
        .filter_map(|metric| chart(summary, *metric));
    charts.fold(section, Section::plot)
}

fn chart(summary: &SweepSummary, metric: Metric) -> Option<Plot> {
    let numbered = (1_u32..).zip(&summary.cells);
    let points: Vec<Point> = numbered
        .filter_map(|(number, cell)| {
            let effect = cell
                .effects
                .iter()
                .find(|effect| effect.measure == metric)?;
            let point = Point::new(number.into(), effect.mean).named(&cell.key);
            Some(point.interval(effect.low, effect.high))
        })
        .collect();
    if points.is_empty() {
        return None;
    }
    let (x, y) = (Axis::new("cell"), Axis::new(metric.title()));
    Some(Plot::xy(metric.title(), x, y).with(Series::points("mean", points)))
}

fn effects(summary: &SweepSummary) -> Section {
    let number = |value: Option<f64>| value.map_or(Cell::Missing, |value| Cell::number(value, 3));
    let row = |cell: &CellSummary, effect: &Effect| {
        [
            Cell::code(&cell.key),
            Cell::text(effect.measure.name()),
            Cell::number(effect.mean, 3),
            Cell::number(effect.low, 3),
            Cell::number(effect.high, 3),
            number(effect.delta),
            number(effect.p_holm),
        ]
    };
    let rows = (summary.cells.iter())
        .flat_map(|cell| cell.effects.iter().map(move |effect| row(cell, effect)));
    let columns = ["Cell", "Measure", "Mean", "Low", "High", "Delta", "p"];
    Section::new("Effects")
        .anchor("effects")
        .text("Delta is Cliff's delta against the first cell: the share of pairs of runs in which this cell has more, less the share in which it has less. Its p is corrected for all deltas of the sweep by Holm's method.")
        .table(Table::new("Measures of each cell", columns).rows(rows).limit(500))
}

fn provenance(summary: &SweepSummary) -> Section {
    Section::new("Provenance").anchor("provenance").facts([
        ("Plan", Cell::code(&summary.name)),
        ("Axes", Cell::text(summary.axes.join(", "))),
        ("Level of the tests", Cell::number(summary.alpha, 3)),
        ("Null runs of each run", summary.null_runs.into()),
    ])
}
