/// The error of a page that cannot be rendered. Every case is a mistake of the calling program: no text can cause one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A row has more or fewer cells than the table has columns.
    #[error("table {table:?}, row {row}: {actual} cells for {expected} columns")]
    RowWidth {
        /// The table's caption.
        table: String,
        /// The row, from 1.
        row: usize,
        /// The number of columns.
        expected: usize,
        /// The number of cells.
        actual: usize,
    },
    /// An item has more or fewer values than its browser has columns, or refers to a text or an item that is not there.
    #[error(
        "browser {browser:?}, item {item}: its values or its text are not those of this browser"
    )]
    Item {
        /// The browser's title.
        browser: String,
        /// The item, from 1.
        item: usize,
    },
    /// Two parts of the page have the same anchor.
    #[error("anchor {anchor:?} stands for two places")]
    DuplicateAnchor {
        /// The anchor.
        anchor: String,
    },
    /// A link leads to an anchor that no part of the page has.
    #[error("a link leads to {anchor:?}, which is not on this page")]
    UnknownAnchor {
        /// The anchor.
        anchor: String,
    },
    /// The name of embedded data is not lower-case letters, digits and hyphens.
    #[error("data name {name:?} is not lower-case letters, digits and hyphens")]
    DataName {
        /// The name.
        name: String,
    },
    /// Two pieces of embedded data have the same name.
    #[error("data name {name:?} is used twice")]
    DuplicateData {
        /// The name.
        name: String,
    },
    /// The data to embed is not JSON.
    #[error("data {name:?} is not JSON")]
    Data {
        /// The name of the data.
        name: String,
        /// The error of serde.
        #[source]
        source: serde_json::Error,
    },
}
