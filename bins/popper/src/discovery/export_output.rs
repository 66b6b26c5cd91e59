//! The output of an export, which takes the rows page by page.

use std::collections::VecDeque;

use bin_support::{Failure, Output, Session};
use popper_discovery::store::{RowPage, RunRow, Store, StoreError, TestedLaw};

/// Laws, or attempts, that are read from the database at once.
pub const ROWS: u32 = 1000;

/// Bytes that are written at once. An export that is not larger is written as a whole, or not at all if a row cannot be read.
const PART: usize = 8 << 20;

/// The numbers of exported rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportCounts {
    pub laws: u64,
    /// The attempts that the run made, and those of other runs that decided its laws.
    pub attempts: u64,
}

/// An output with the bytes that are not written yet.
pub struct ExportOutput {
    output: Output,
    part: Vec<u8>,
}

impl ExportOutput {
    pub fn new(output: Output) -> Self {
        let part = Vec::new();
        Self { output, part }
    }

    /// The bytes that are not written yet, to add more.
    pub fn part(&mut self) -> &mut Vec<u8> {
        &mut self.part
    }

    /// Writes the bytes if there are many. Called after each page.
    pub fn end_page(&mut self, session: &mut Session) -> Result<(), Failure> {
        if self.part.len() >= PART {
            self.output.append(session, &self.part)?;
            self.part.clear();
        }
        Ok(())
    }

    /// Writes the rest. A file replaces the one before it.
    pub fn finish(self, session: &mut Session) -> Result<(), Failure> {
        self.output.finish(session, |out| out.write_all(&self.part))
    }
}

/// The tested laws of a run, to be asked for in the order of the laws.
pub struct TestedLaws {
    page: Option<RowPage>,
    read: VecDeque<TestedLaw>,
}

impl TestedLaws {
    pub fn new() -> Self {
        Self {
            page: Some(RowPage::first(ROWS)),
            read: VecDeque::new(),
        }
    }

    /// Returns the law with this key and the attempt that decided it. `None` for a law without a verdict. The keys ascend from call
    /// to call.
    pub async fn get(
        &mut self,
        store: &mut impl Store,
        run: &RunRow,
        law_id: i64,
    ) -> Result<Option<TestedLaw>, StoreError> {
        if self.read.is_empty()
            && let Some(page) = self.page
        {
            let rows = store.tested_page(run, page).await?;
            self.page = page.next(&rows, |row| row.law.id);
            self.read = rows.into();
        }
        Ok(self.read.pop_front_if(|row| row.law.id == law_id))
    }
}
