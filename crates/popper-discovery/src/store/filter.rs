//! The rows that a query asks for.

use popper_harness::decide::Status;

use super::row::{LawStatus, RunRow};

/// The iterations of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// All of them.
    All,
    /// The one with this number, from 1.
    Index(u32),
    /// The one that began last.
    Last,
}

/// The laws of a run.
#[derive(Debug, Clone, Copy)]
pub enum LawFilter<'a> {
    /// The laws with these fingerprints.
    Fingerprints(&'a [String]),
    /// The laws whose fingerprint begins with this.
    Beginning(&'a str),
    /// The laws with one of these statuses.
    Statuses {
        /// The statuses.
        statuses: &'a [LawStatus],
        /// The most laws to return, the ones that were stored last.
        newest: Option<u32>,
    },
}

impl<'a> LawFilter<'a> {
    /// Returns the filter for all laws with one of these statuses.
    pub fn statuses(statuses: &'a [LawStatus]) -> Self {
        Self::Statuses {
            statuses,
            newest: None,
        }
    }
}

/// Attempts under one configuration of the harness.
#[derive(Debug, Clone, Copy)]
pub enum AttemptFilter<'a> {
    /// The attempts at a law, in any run on this universe.
    Law {
        /// The fingerprint of the law.
        fingerprint: &'a str,
        /// The hash of the configuration.
        harness_config_hash: &'a str,
        /// The hash of the universe.
        sim_hash: &'a str,
    },
    /// The attempts of a run at these laws.
    Run {
        /// The key of the run.
        run_id: i64,
        /// The keys of the laws in `laws`.
        law_ids: &'a [i64],
        /// The hash of the configuration.
        harness_config_hash: &'a str,
    },
}

/// Laws with the attempts at them.
#[derive(Debug, Clone, Copy)]
pub enum Query<'a> {
    /// The tested laws of a run, each with the attempt that decided it, in the order in which the laws were stored.
    Tested {
        /// The run.
        run: &'a RunRow,
        /// Only laws with this verdict.
        status: Option<Status>,
        /// The most laws to return, the ones that were stored last.
        newest: Option<u32>,
    },
    /// A page of the attempts that a run made itself, in the order in which they were stored.
    Attempts {
        /// The run.
        run: &'a RunRow,
        /// The key of the attempt before the page, 0 for the first page.
        after: i64,
        /// The most attempts to return.
        limit: u32,
    },
}

impl<'a> Query<'a> {
    /// Returns the query for all tested laws of a run.
    pub fn all(run: &'a RunRow) -> Self {
        Self::Tested {
            run,
            status: None,
            newest: None,
        }
    }

    /// Returns the query for the laws of a run that were stored last, of those with this verdict or of all.
    pub fn newest(run: &'a RunRow, status: Option<Status>, newest: u32) -> Self {
        Self::Tested {
            run,
            status,
            newest: Some(newest),
        }
    }

    /// Returns the query for a page of the attempts that a run made itself: at most `limit` after the one with the key `after`.
    pub fn attempts(run: &'a RunRow, after: i64, limit: u32) -> Self {
        Self::Attempts { run, after, limit }
    }
}

/// A page of rows in ascending order of their keys: at most `limit` rows after the one with the key `after`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store answers every query")]
pub struct RowPage {
    /// The key of the row before the page, 0 for the first page.
    pub after: i64,
    /// The most rows of the page, at least 1.
    pub limit: u32,
}

impl RowPage {
    /// Returns the first page of at most `limit` rows.
    pub fn first(limit: u32) -> Self {
        Self { after: 0, limit }
    }

    /// Returns the page after these rows of this page. `None` if they are the last ones.
    pub fn next<T>(self, rows: &[T], key: impl Fn(&T) -> i64) -> Option<Self> {
        let last = rows.last().filter(|_| rows.len() >= self.limit as usize)?;
        Some(Self {
            after: key(last),
            ..self
        })
    }

    /// Returns the rows of this page among all rows, which are in ascending order of their keys.
    pub(super) fn of<T>(self, rows: Vec<T>, key: impl Fn(&T) -> i64) -> Vec<T> {
        let rows = rows.into_iter().filter(|row| key(row) > self.after);
        rows.take(self.limit as usize).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::RowPage;

    #[test]
    fn pages_are_all_rows_once_in_order() {
        for count in 0..10 {
            let all: Vec<i64> = (0..count).map(|index| 3 * index + 2).collect();
            for limit in 1..12 {
                let mut found = Vec::new();
                let mut next = Some(RowPage::first(limit));
                while let Some(page) = next {
                    let rows = page.of(all.clone(), |row| *row);
                    next = page.next(&rows, |row| *row);
                    found.extend(rows);
                }
                assert_eq!(found, all, "{limit}");
            }
        }
    }
}
