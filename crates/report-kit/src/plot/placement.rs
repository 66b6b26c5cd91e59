//! The placement of marks and names, so that none hides another.

use std::collections::HashMap;

use super::figure::WIDTH;
use crate::document::text;

/// The distance between marks that are moved apart, in units of the drawing.
const STEP: f64 = 7.0;
/// The maximum number of marks that are moved apart; further ones cover the last.
const MOST: u32 = 10;
/// The maximum number of named points whose names are written into the drawing.
pub(super) const NAMED: usize = 12;
/// The maximum length in characters of such a name.
const NAME: usize = 24;
/// The width of a letter and the height of a line, in units of the drawing.
const LETTER: (f64, f64) = (7.5, 15.0);

/// Returns the distance by which each mark moves to the right, for marks at these places, series by series.
pub(super) fn shifts(clouds: &[Vec<Option<(f64, f64)>>]) -> Vec<Vec<f64>> {
    let mut taken: HashMap<(i64, i64), u32> = HashMap::new();
    let mut shift = |place: &Option<(f64, f64)>| {
        let Some((x, y)) = place else { return 0.0 };
        let there = taken
            .entry((x.round() as i64, y.round() as i64))
            .or_default();
        let before = (*there).min(MOST - 1);
        *there += 1;
        f64::from(before) * STEP
    };
    clouds
        .iter()
        .map(|cloud| cloud.iter().map(&mut shift).collect())
        .collect()
}

/// A name in the drawing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub(super) x: f64,
    pub(super) y: f64,
    /// The name ends at `x`, as there is no room to the right of its mark.
    pub(super) ends: bool,
    pub(super) name: String,
}

/// Places names next to their marks, each below those that it would cover.
pub(super) fn labels(marks: &[(f64, f64, &str)]) -> Vec<Label> {
    let mut marks = marks.to_vec();
    marks.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
    // A name covers no mark, either.
    let mut placed: Vec<(f64, f64, f64)> = (marks.iter())
        .map(|(x, y, _)| (x - 5.0, x + 5.0, y + 4.5))
        .collect();
    let mut labels = Vec::new();
    for (x, y, name) in marks {
        let name = text::label(name, NAME);
        let width = LETTER.0 * name.chars().count() as f64;
        let ends = x + 9.0 + width > WIDTH;
        let x = if ends { x - 9.0 } else { x + 9.0 };
        let (left, right) = if ends { (x - width, x) } else { (x, x + width) };
        let mut y = y + 4.5;
        while placed
            .iter()
            .any(|&(from, to, at)| from < right && left < to && (at - y).abs() < LETTER.1)
        {
            y += 1.0;
        }
        placed.push((left, right, y));
        labels.push(Label { x, y, ends, name });
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_at_one_place_stand_side_by_side() {
        let clouds = [
            vec![Some((10.2, 5.0)), Some((30.0, 5.0)), None],
            vec![Some((9.8, 5.3))],
            vec![Some((10.0, 5.0))],
        ];
        let expected = [vec![0.0, 0.0, 0.0], vec![STEP], vec![2.0 * STEP]];
        assert_eq!(shifts(&clouds), expected);
        let many = vec![vec![Some((0.0, 0.0)); 40]];
        assert_eq!(shifts(&many)[0].last(), Some(&(f64::from(MOST - 1) * STEP)));
    }

    #[test]
    fn no_name_covers_another() {
        let found = labels(&[
            (100.0, 50.0, "second"),
            (100.0, 49.0, "first"),
            (715.0, 49.0, "last"),
        ]);
        let names: Vec<_> = found.iter().map(|label| label.name.as_str()).collect();
        assert_eq!(names, ["first", "last", "second"]);
        assert!(found[2].y - found[0].y >= LETTER.1);
        assert_eq!((found[0].ends, found[1].ends), (false, true));
        assert!(found[1].x < 715.0);
    }
}
