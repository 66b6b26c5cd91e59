//! Writes a page with one of everything: `cargo run -p orrery-report-kit --example page -- page.html`.
#![expect(
    clippy::disallowed_methods,
    reason = "an example is a program: it takes its path from the command line"
)]

use std::error::Error;
use std::path::PathBuf;

use report_kit::{
    Axis, Bar, Cell, Entry, Page, Plot, Point, SearchableList, Section, Series, SpaceTime, Status,
    Table, TextDiff,
};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).map(PathBuf::from);
    let path = path.ok_or("where should the page go? page PATH")?;
    std::fs::write(path, demo().render()?)?;
    Ok(())
}

fn demo() -> Page {
    Page::new("Four laws of a small universe")
        .lead(
            "Sixty laws were proposed and forty-one decided. Four conserved quantities and the mirror symmetry held up; \
             the rest broke within twelve steps.",
        )
        .origin(Status::Caution, "Offline: no model was asked. The proposals come from a fixed list.")
        .section(laws())
        .section(plots())
        .section(texts())
        .section(messages())
        .provenance(Section::new("Provenance").facts([
            ("universe", Cell::text("kinetic_grid")),
            ("seed", 7.into()),
            ("laws decided", 41.into()),
            ("median power", Cell::interval(0.934, 0.91, 0.956, 3)),
            ("cost", Cell::Missing),
        ]))
        .data("laws", &["N_R + N_X", "N_L + N_X"])
}

fn laws() -> Section {
    let verdicts = Table::new("Verdicts", ["Law", "Claim", "Verdict", "Cases", "Power"])
        .row([
            Cell::link("right-movers", "law-1"),
            Cell::code("N_R(t) + N_X(t) = N_R(0) + N_X(0)"),
            Cell::badge("PASS", Status::Good),
            65_536.into(),
            Cell::number(0.998, 3),
        ])
        .row([
            Cell::text("free right-movers"),
            Cell::code("N_R(t) = N_R(0)"),
            Cell::badge("FAIL", Status::Bad),
            12.into(),
            Cell::Missing,
        ])
        .row([
            Cell::text("<script>alert(1)</script>"),
            Cell::code("\u{202e}desrever\u{0} https://example.org"),
            Cell::badge("UNKNOWN", Status::Caution),
            0.into(),
            Cell::number(f64::NAN, 3),
        ]);
    let world = SpaceTime::new(
        "Counterexample of “free right-movers”",
        [
            "..>...<...",
            "...>.<....",
            "....X.....",
            "...<.>....",
            "..<...>...",
        ],
    )
    .symbol('.', "empty")
    .symbol('>', "moves right")
    .symbol('<', "moves left")
    .symbol('X', "a collision")
    .mark(
        2,
        4,
        "both movers are in the collision: N_R is 0, and was 1",
    );
    Section::new("Laws")
        .anchor("laws")
        .text("A law is kept until a state is found where it breaks. Power is the share of planted faults that the search found.")
        .table(verdicts)
        .grid(world)
        .section(
            Section::new("The proof of right-movers")
                .anchor("law-1")
                .folded()
                .code("steps", "1. N_R + N_X is additive\n2. every window of three cells keeps it"),
        )
}

fn plots() -> Section {
    let calls = [1, 2, 5, 10, 20, 50, 100, 200];
    let found = [0.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0, 4.0];
    let run = calls.iter().copied().map(f64::from).zip(found);
    let chance = calls.iter().map(|&calls| {
        let calls = f64::from(calls);
        (calls, calls / 150.0, 0.4 + calls / 70.0)
    });
    let discovery = Plot::xy(
        "Laws found",
        Axis::new("proposals").log(),
        Axis::new("laws").including(0.0),
    )
    .with(Series::band("95 % of random proposers", chance))
    .with(Series::line("this run", run));
    let fidelity = Plot::xy(
        "Fidelity against compression",
        Axis::new("characters saved, %"),
        Axis::new("score"),
    )
    .with(Series::points(
        "encodings",
        [
            Point::new(12.0, 97.0).interval(95.0, 98.5).named("terse"),
            Point::new(38.0, 91.0).interval(86.0, 94.0).named("symbols"),
            Point::new(35.0, 78.0)
                .interval(70.0, 85.0)
                .named("abbreviations"),
            Point::new(71.0, 64.0).interval(52.0, 75.0).named("glyphs"),
            Point::new(f64::NAN, 50.0).named("no reply"),
        ],
    ))
    .with(Series::line(
        "Pareto front",
        [(12.0, 97.0), (38.0, 91.0), (71.0, 64.0)],
    ));
    Section::new("Numbers")
        .plot(discovery)
        .plot(fidelity)
        .plot(Plot::bars(
            "Total by encoding",
            Axis::new("points of 100"),
            [
                Bar::new("terse", 91.2).interval(88.0, 94.0),
                Bar::new("symbols", 84.0).interval(79.0, 88.5),
                Bar::new("an encoding with a name that is too long", 41.5).interval(30.0, 55.0),
                Bar::new("none", -3.0),
            ],
        ))
        .plot(Plot::line(
            "Tokens by call",
            Axis::new("call"),
            Axis::new("tokens"),
            [(0.0, f64::NAN)],
        ))
}

fn texts() -> Section {
    Section::new("Texts")
        .diff(
            TextDiff::words(
                "What came back",
                "The quick fox jumps over the lazy dog, and the dog does not mind at all.",
                "The quick brown fox jumps over a dog, and the dog does not mind.",
            )
            .named("original", "decoded"),
        )
        .diff(TextDiff::lines(
            "What changed in the rules",
            "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n",
            "one\ntwo\nthree\nfour\nfive\nsix\nseven\n8\nnine\nten\n",
        ))
}

fn messages() -> Section {
    let entries = (1..=12).map(|number: u32| {
        let entry = Entry::new(format!("message {number}"))
            .anchor(format!("m{number}"))
            .fact("round", (number - 1) / 4 + 1)
            .fact("mind", Cell::code(format!("mind-{}", number % 4)));
        let entry = match number {
            1 => entry.fact("parents", Cell::badge("seed", Status::Info)),
            _ => entry.fact(
                "parents",
                Cell::link(
                    format!("message {}", number / 2),
                    format!("m{}", number / 2),
                ),
            ),
        };
        entry
            .text(Status::Neutral, "I have read what there is.\n")
            .text(
                Status::Good,
                format!(
                    "The {} light turns on without a request.",
                    ["green", "red", "blue"][number as usize % 3]
                ),
            )
            .text(Status::Bad, "\n(this was never closed")
    });
    Section::new("Messages").list(SearchableList::new("All messages", entries))
}
