//! The results as JUnit XML.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use zer0gravity_engine::ExperimentResult;

use crate::flags::Checks;

/// An element with its children.
struct TestSuite<'a> {
    name: &'a str,
    cases: Vec<TestCase>,
    is_offline: bool,
}

/// An experiment, or a check of the whole run.
#[derive(Default)]
struct TestCase {
    name: String,
    milliseconds: u64,
    /// The element, its type and its text.
    problem: Option<(&'static str, String, String)>,
}

const ERROR: &str = "error";
const FAILURE: &str = "failure";

/// Writes a suite for each encoding system, and one for the checks of the whole run and the inputs left out if there are any.
pub fn write(
    results: &[ExperimentResult],
    left_out: Option<String>,
    checks: Option<&Checks>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut suites: Vec<TestSuite<'_>> = Vec::new();
    for result in results {
        let name = result.encoding_id.as_str();
        let case = TestCase::of(result, checks);
        match suites.iter_mut().find(|suite| suite.name == name) {
            Some(suite) => suite.cases.push(case),
            None => suites.push(TestSuite {
                name,
                cases: vec![case],
                is_offline: result.offline,
            }),
        }
    }
    let means = checks.map_or_else(Vec::new, |checks| checks.of_means(results));
    let means = means.into_iter().map(|(name, failed)| TestCase {
        problem: failed.map(|text| {
            let kind = name.split_whitespace().next().unwrap_or_default();
            (FAILURE, kind.trim_start_matches('-').to_owned(), text)
        }),
        name,
        ..TestCase::default()
    });
    let inputs = left_out.map(|text| TestCase {
        name: "inputs".to_owned(),
        problem: Some((ERROR, "left-out".to_owned(), text)),
        ..TestCase::default()
    });
    let whole: Vec<_> = means.chain(inputs).collect();
    if !whole.is_empty() {
        suites.push(TestSuite {
            name: "checks",
            cases: whole,
            is_offline: false,
        });
    }
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all: Vec<_> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let end = start(&mut xml, "testsuites", "zer0gravity", &all)?;
    for suite in &suites {
        suite.write(&mut xml)?;
    }
    xml.write_event(Event::End(end))?;
    writeln!(xml.get_mut())
}

/// Writes the start of an element with the counts of its cases.
fn start(
    xml: &mut Writer<impl Write>,
    element: &'static str,
    name: &str,
    cases: &[&TestCase],
) -> io::Result<BytesEnd<'static>> {
    let count = |kind: &str| {
        let is_kind = |case: &&&TestCase| case.problem.as_ref().is_some_and(|it| it.0 == kind);
        cases.iter().filter(is_kind).count().to_string()
    };
    let milliseconds = cases.iter().map(|case| case.milliseconds).sum();
    let start = BytesStart::new(element).with_attributes([
        ("name", xml_text(name).as_str()),
        ("tests", &cases.len().to_string()),
        ("failures", &count(FAILURE)),
        ("errors", &count(ERROR)),
        ("time", &seconds(milliseconds)),
    ]);
    xml.write_event(Event::Start(start))?;
    Ok(BytesEnd::new(element))
}

impl TestSuite<'_> {
    fn write(&self, xml: &mut Writer<impl Write>) -> io::Result<()> {
        let cases: Vec<_> = self.cases.iter().collect();
        let end = start(xml, "testsuite", self.name, &cases)?;
        if self.is_offline {
            let property = [("name", "offline"), ("value", "true")];
            let property = BytesStart::new("property").with_attributes(property);
            xml.write_event(Event::Start(BytesStart::new("properties")))?;
            xml.write_event(Event::Empty(property))?;
            xml.write_event(Event::End(BytesEnd::new("properties")))?;
        }
        for case in &self.cases {
            case.write(self.name, xml)?;
        }
        xml.write_event(Event::End(end))
    }
}

impl TestCase {
    fn of(result: &ExperimentResult, checks: Option<&Checks>) -> Self {
        let outcome = &result.outcome;
        let problem = if outcome.is_ok() {
            let failed = checks.map_or_else(Vec::new, |checks| checks.failed_by(result));
            let failed = failed.join("; ");
            (!failed.is_empty()).then(|| (FAILURE, "check".to_owned(), failed))
        } else {
            let reason = outcome.sentence().unwrap_or_default();
            Some((ERROR, outcome.status.to_string(), reason))
        };
        let (case, trial, decode) = (&result.test_case_id, result.trial, result.decode);
        Self {
            name: format!("{case} trial {trial} decode {decode}"),
            milliseconds: result.metadata.duration_ms,
            problem,
        }
    }

    fn write(&self, suite: &str, xml: &mut Writer<impl Write>) -> io::Result<()> {
        let start = BytesStart::new("testcase").with_attributes([
            ("name", xml_text(&self.name).as_str()),
            ("classname", &xml_text(suite)),
            ("time", &seconds(self.milliseconds)),
        ]);
        let Some((element, kind, text)) = &self.problem else {
            return xml.write_event(Event::Empty(start));
        };
        xml.write_event(Event::Start(start))?;
        let text = xml_text(text);
        let problem = BytesStart::new(*element);
        let problem = problem.with_attributes([("type", kind.as_str()), ("message", &text)]);
        xml.write_event(Event::Start(problem))?;
        xml.write_event(Event::Text(BytesText::new(&text)))?;
        xml.write_event(Event::End(BytesEnd::new(*element)))?;
        xml.write_event(Event::End(BytesEnd::new("testcase")))
    }
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

/// A text with U+FFFD in place of the characters that XML 1.0 cannot represent.
fn xml_text(text: &str) -> String {
    let is_forbidden = |char| {
        matches!(char, '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}') && !"\t\n\r".contains(char)
    };
    text.replace(is_forbidden, "\u{fffd}")
}
