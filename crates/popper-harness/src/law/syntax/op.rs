//! The two-sided operators.

/// The level of comparisons, as in [`Op::level`]; `not` binds between level 2 and 3, the unary minus above all.
pub(super) const COMPARISON: usize = 3;
pub(super) const UNARY: usize = 6;

/// A two-sided operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Op {
    /// The implication `->`.
    Implies,
    /// The disjunction `or`.
    Or,
    /// The conjunction `and`.
    And,
    /// The comparison `==`.
    Eq,
    /// The comparison `!=`.
    Ne,
    /// The comparison `<`.
    Lt,
    /// The comparison `<=`.
    Le,
    /// The comparison `>`.
    Gt,
    /// The comparison `>=`.
    Ge,
    /// The sum `+`.
    Add,
    /// The difference `-`.
    Sub,
    /// The product `*`.
    Mul,
    /// The exact quotient `/`.
    Div,
    /// The floor modulo `%`.
    Mod,
}

impl Op {
    /// Returns the operator as laws write it (`=>` for the implication, as in `claim_ast`).
    pub fn text(self) -> &'static str {
        match self {
            Self::Implies => "=>",
            Self::Or => "or",
            Self::And => "and",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
        }
    }

    /// Reads an operator of a `claim_ast`.
    pub fn from_text(text: &str) -> Option<Self> {
        const ALL: [Op; 14] = [
            Op::Implies,
            Op::Or,
            Op::And,
            Op::Eq,
            Op::Ne,
            Op::Lt,
            Op::Le,
            Op::Gt,
            Op::Ge,
            Op::Add,
            Op::Sub,
            Op::Mul,
            Op::Div,
            Op::Mod,
        ];
        ALL.into_iter().find(|op| op.text() == text)
    }

    /// Whether this compares two integers.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge
        )
    }

    /// Whether this joins two truth values.
    pub fn is_logical(self) -> bool {
        matches!(self, Self::Implies | Self::Or | Self::And)
    }

    /// Whether the operands may be exchanged.
    pub fn is_commutative(self) -> bool {
        matches!(
            self,
            Self::Or | Self::And | Self::Eq | Self::Ne | Self::Add | Self::Mul
        )
    }

    /// Returns the comparison that means the same with its sides exchanged.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            other => other,
        }
    }

    /// Returns the comparison that holds exactly where this one does not.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
            other => other,
        }
    }

    /// Whether `left op right` holds, for a comparison.
    pub fn compares<N: Ord>(self, left: &N, right: &N) -> bool {
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Lt => left < right,
            Self::Le => left <= right,
            Self::Gt => left > right,
            Self::Ge => left >= right,
            _ => false,
        }
    }

    /// Returns the precedence level; 0 binds loosest.
    pub(crate) fn level(self) -> usize {
        match self {
            Self::Implies => 0,
            Self::Or => 1,
            Self::And => 2,
            Self::Add | Self::Sub => 4,
            Self::Mul | Self::Div | Self::Mod => 5,
            _ => COMPARISON,
        }
    }
}
