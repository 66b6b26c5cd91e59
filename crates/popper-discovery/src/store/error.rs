//! The errors of a store.

/// The error of a store. A transaction that failed has written nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store is in use by another process.
    #[error("{place}: in use by another process; let it finish or stop it, then try again")]
    Locked {
        /// The file or address.
        place: String,
    },
    /// The store cannot be written.
    #[error(
        "{place}: read-only; give yourself the right to write it and its folder, or choose another place"
    )]
    ReadOnly {
        /// The file or address.
        place: String,
    },
    /// The server cannot be reached, or it ended the connection. Another try may succeed.
    #[error("{place}: the connection was lost")]
    Disconnected {
        /// The address.
        place: String,
        /// The error of the connection.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server cannot be used as it is, or not with these rights.
    #[error("{place}: {message}")]
    Refused {
        /// The address.
        place: String,
        /// The problem.
        message: String,
    },
    /// The disk is full.
    #[error("{place}: the disk is full; make room and resume, all that was committed is there")]
    Full {
        /// The file or address.
        place: String,
    },
    /// The file is damaged, or not a database.
    #[error("{place}: not a sound database ({message}); restore a copy, or choose another file")]
    Corrupt {
        /// The file or address.
        place: String,
        /// The problem with the file.
        message: String,
    },
    /// The file was made by a newer program.
    #[error(
        "{place}: made by a newer program (schema {found}, this one knows {known}); use that program"
    )]
    Newer {
        /// The file or address.
        place: String,
        /// The schema version of the file.
        found: i64,
        /// The newest schema version that this program knows.
        known: i64,
    },
    /// The file does not exist and was not to be created.
    #[error("{place}: there is no database")]
    Missing {
        /// The file or address.
        place: String,
    },
    /// A column has a value that this program never writes.
    #[error("{table} {id}: column {column}: {message}")]
    Column {
        /// The table.
        table: &'static str,
        /// The key of the row.
        id: i64,
        /// The column.
        column: &'static str,
        /// The problem with the value.
        message: String,
    },
    /// The same law, configuration and seed gave two verdicts: the harness is not deterministic, or the database was edited.
    #[error(
        "law {law_fingerprint}, seed {seed}: the stored verdict has digest {stored}, the new one {new}: one of them is wrong"
    )]
    Contradiction {
        /// The fingerprint of the law.
        law_fingerprint: String,
        /// The seed of both attempts.
        seed: u64,
        /// The stored digest.
        stored: String,
        /// The digest of the new verdict.
        new: String,
    },
    /// Any other error of the database.
    #[error("{place}")]
    Database {
        /// The file or address.
        place: String,
        /// The error of the database.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
