//! A statement with its values. The values are `$1`, `$2`, .. in the text, which both databases read.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A value of a statement.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    Int(Option<i64>),
    Text(Option<Cow<'a, str>>),
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Int(Some(number))
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(number: Option<i64>) -> Self {
        Self::Int(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(Cow::Borrowed(text)))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::from(text.as_str())
    }
}

impl<'a> From<&'a Option<String>> for Value<'a> {
    fn from(text: &'a Option<String>) -> Self {
        Self::Text(text.as_deref().map(Cow::Borrowed))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Some(Cow::Owned(text)))
    }
}

impl From<Option<String>> for Value<'_> {
    fn from(text: Option<String>) -> Self {
        Self::Text(text.map(Cow::Owned))
    }
}

/// A statement in the making.
#[derive(Debug, Clone)]
pub struct Statement<'a> {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<Value<'a>>,
}

impl<'a> Statement<'a> {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self {
            sql: sql.into(),
            values: Vec::new(),
        }
    }

    /// Adds the value of the next `$n` that the text has already.
    pub(crate) fn bind(mut self, value: impl Into<Value<'a>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Adds text to the statement.
    pub(crate) fn push(mut self, sql: &str) -> Self {
        self.sql.to_mut().push_str(sql);
        self
    }

    /// Adds a value and its `$n`.
    pub(crate) fn push_bind(mut self, value: impl Into<Value<'a>>) -> Self {
        self.place();
        self.values.push(value.into());
        self
    }

    /// Adds values in parentheses: `($1, $2)`.
    pub(crate) fn push_list<V: Into<Value<'a>>>(
        mut self,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        self.sql.to_mut().push('(');
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                self.sql.to_mut().push_str(", ");
            }
            self = self.push_bind(value);
        }
        self.push(")")
    }

    /// Adds the rows of an INSERT: `VALUES ($1, $2), ($3, $4)`.
    pub(crate) fn push_rows(mut self, rows: impl IntoIterator<Item = Vec<Value<'a>>>) -> Self {
        self.sql.to_mut().push_str("VALUES ");
        for (index, row) in rows.into_iter().enumerate() {
            if index > 0 {
                self.sql.to_mut().push_str(", ");
            }
            self = self.push_list(row);
        }
        self
    }

    /// Adds the `$n` of the value that is added next.
    fn place(&mut self) {
        let number = self.values.len() + 1;
        // Writing to a string cannot fail.
        let _ = write!(self.sql.to_mut(), "${number}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbered_in_order() {
        let statement = Statement::new("SELECT a FROM t WHERE b = $1 AND c IN ")
            .bind(7)
            .push_list(["x", "y"])
            .push(" LIMIT ")
            .push_bind(9);
        let expected = "SELECT a FROM t WHERE b = $1 AND c IN ($2, $3) LIMIT $4";
        assert_eq!(statement.sql, expected);
        assert_eq!(statement.values.len(), 4);
        let rows = [vec![1.into(), "a".into()], vec![2.into(), "b".into()]];
        let insert = Statement::new("INSERT INTO t (a, b) ").push_rows(rows);
        assert_eq!(insert.sql, "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)");
        let none = Statement::new("x IN ").push_list::<i64>([]);
        assert_eq!(none.sql, "x IN ()");
    }
}
