//! The recall and the discovery curve of a run, from all its tested laws, page by page.

use std::collections::{BTreeMap, BTreeSet};

use popper_harness::conserved::{ConservedSpace, span};
use popper_harness::decide::Status;
use popper_harness::universe::Tabulated;

use super::discovery_report::{Point, RecallReport};
use crate::error::Error;
use crate::recall::{MatchedLaw, Recall};
use crate::snapshot::Verdicts;
use crate::store::{RowPage, RunRow, Store, TestedLaw};

/// Window widths for which recall is measured.
const WIDTHS: [usize; 2] = [1, 2];
/// Tested laws that are read at once.
const ROWS: u32 = 1_000;
/// Points of the curve of a longer run, apart from those at which a quantity was found.
const POINTS: usize = 2_000;
/// Laws that state a conserved quantity and are named, the first ones in time.
const NAMED: usize = 500;

/// The place of a tested law in the order of time. The verdicts of other runs were there before anything was tested here.
type Moment = (bool, i64);

fn moment(law: &TestedLaw, run: &RunRow) -> Moment {
    if law.evaluation.run_id == run.id {
        (true, law.evaluation.id)
    } else {
        (false, law.law.id)
    }
}

/// The facts that come from all tested laws of a run.
pub(super) struct Survey {
    /// The number of laws that another run decided.
    pub known: u64,
    pub recall: Vec<RecallReport>,
    pub curve: Vec<Point>,
}

impl Survey {
    /// Reads the tested laws of a run.
    pub(super) async fn read(
        store: &mut impl Store,
        run: &RunRow,
        universe: &Tabulated,
    ) -> Result<Self, Error> {
        let mut known = 0;
        let mut own: Vec<(i64, Status)> = Vec::new();
        let mut widths = Vec::new();
        for width in WIDTHS {
            widths.push(PagedRecall::new(width, universe)?);
        }
        let mut next = Some(RowPage::first(ROWS));
        while let Some(page) = next {
            let mut laws = store.tested_page(run, page).await?;
            next = page.next(&laws, |law| law.law.id);
            for law in &laws {
                match moment(law, run) {
                    (true, id) => own.push((id, law.evaluation.status)),
                    (false, _) => known += 1,
                }
            }
            for width in &mut widths {
                laws = width.add(laws, run, universe)?;
            }
        }
        own.sort_unstable_by_key(|(id, _)| *id);
        let widest = widths.iter().rev().find(|width| width.space.is_ok());
        let first = widest.map_or(&[][..], |width| &width.basis);
        let curve = curve(&own, &first.iter().map(|law| moment(law, run)).collect());
        Ok(Self {
            known,
            recall: widths.into_iter().map(|width| width.finish(run)).collect(),
            curve,
        })
    }
}

/// The recall of one window width, over the pages so far.
struct PagedRecall {
    width: usize,
    /// The conserved quantities with the comparison of the last page, or the reason why they are unknown.
    space: Result<(ConservedSpace, Recall), String>,
    /// The laws that did not follow from laws before them in time. Laws of a later page can only replace them by earlier ones, so that
    /// they and the page are all that a comparison needs.
    basis: Vec<TestedLaw>,
    /// The number of laws that state a quantity.
    laws: u64,
    named: Vec<(Moment, String)>,
    outside: BTreeMap<String, Verdicts>,
}

impl PagedRecall {
    fn new(width: usize, universe: &Tabulated) -> Result<Self, Error> {
        let space = match span(universe, width) {
            Ok(space) => {
                let none = Recall::measure(&space, universe, &[])?;
                Ok((space, none))
            }
            Err(error) => Err(error.to_string()),
        };
        Ok(Self {
            width,
            space,
            basis: Vec::new(),
            laws: 0,
            named: Vec::new(),
            outside: BTreeMap::new(),
        })
    }

    /// Adds a page of laws, and returns it.
    fn add(
        &mut self,
        mut laws: Vec<TestedLaw>,
        run: &RunRow,
        universe: &Tabulated,
    ) -> Result<Vec<TestedLaw>, Error> {
        let Ok((space, measured)) = &mut self.space else {
            return Ok(laws);
        };
        let counted = fingerprints(&self.basis);
        laws.append(&mut self.basis);
        // A proof decides several laws at one moment.
        laws.sort_by_key(|law| (moment(law, run), law.law.id));
        *measured = Recall::measure(space, universe, &laws)?;
        let mut stating = measured.inside.iter().peekable();
        for law in &laws {
            let fingerprint = &law.law.law_fingerprint;
            let stated = stating.next_if(|stated| stated.law_fingerprint == *fingerprint);
            let Some(stated) = stated else {
                continue;
            };
            if stated.new {
                self.basis.push(law.clone());
            }
            if !counted.contains(fingerprint) {
                self.laws += 1;
                self.named.push((moment(law, run), fingerprint.clone()));
            }
        }
        self.named.sort();
        self.named.truncate(NAMED);
        for (template, verdicts) in std::mem::take(&mut measured.outside) {
            let sum = self.outside.entry(template).or_default();
            sum.pass += verdicts.pass;
            sum.fail += verdicts.fail;
            sum.unknown += verdicts.unknown;
        }
        laws.retain(|law| !counted.contains(&law.law.law_fingerprint));
        Ok(laws)
    }

    fn finish(mut self, run: &RunRow) -> RecallReport {
        let new = fingerprints(&self.basis);
        let first = self.basis.iter();
        let first = first.map(|law| (moment(law, run), law.law.law_fingerprint.clone()));
        self.named.extend(first);
        self.named.sort();
        self.named.dedup();
        let (recall, problem) = match self.space {
            Ok((_, measured)) => (Some(measured), None),
            Err(problem) => (None, Some(problem)),
        };
        let inside = self.named.into_iter().map(|(_, law_fingerprint)| {
            let new = new.contains(&law_fingerprint);
            MatchedLaw {
                law_fingerprint,
                new,
            }
        });
        RecallReport {
            width: self.width,
            laws: self.laws,
            recall: recall.map(|recall| Recall {
                inside: inside.collect(),
                outside: self.outside,
                ..recall
            }),
            problem,
        }
    }
}

fn fingerprints(laws: &[TestedLaw]) -> BTreeSet<String> {
    let fingerprints = laws.iter().map(|law| law.law.law_fingerprint.clone());
    fingerprints.collect()
}

/// Returns points after attempts of the run itself, in order: after each one in a short run. `first` are the moments at which a quantity
/// was found.
fn curve(own: &[(i64, Status)], first: &BTreeSet<Moment>) -> Vec<Point> {
    let step = own.len().div_ceil(POINTS).max(1);
    let mut point = Point {
        verdicts: Verdicts::default(),
        found: first.iter().filter(|(is_own, _)| !is_own).count() as u64,
    };
    let mut points = Vec::new();
    for (index, (id, status)) in own.iter().enumerate() {
        let has_found = first.contains(&(true, *id));
        point.found += u64::from(has_found);
        point.verdicts.count(*status);
        let number = index + 1;
        if has_found || number.is_multiple_of(step) || number == own.len() {
            points.push(point);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_curve_has_its_end_and_each_finding() {
        let own: Vec<(i64, Status)> = (1..=100_007).map(|id| (id, Status::Pass)).collect();
        let first = BTreeSet::from([(false, 3), (true, 777), (true, 90_001)]);
        let points = curve(&own, &first);
        assert!(points.len() <= POINTS + 3, "{}", points.len());
        let at = |tested: u64| {
            let mut points = points.iter();
            points.find(|point| point.verdicts.pass == tested)
        };
        assert_eq!(points[0].found, 1);
        assert_eq!(at(777).unwrap().found, 2);
        assert_eq!(at(90_001).unwrap().found, 3);
        assert_eq!(points.last(), at(100_007));
        assert_eq!(curve(&own[..2000], &first).len(), 2000);
    }
}
