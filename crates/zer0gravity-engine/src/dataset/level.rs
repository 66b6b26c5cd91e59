use super::Case;

/// A level of the challenge: a file of `src/test-cases`, embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Level {
    /// The number of the level, 1 to 3.
    pub number: u32,
    /// The file as it is.
    pub json: &'static str,
}

/// The three levels in order.
pub const LEVELS: &[Level] = &[
    Level {
        number: 1,
        json: include_str!("../test-cases/level-1-simple.json"),
    },
    Level {
        number: 2,
        json: include_str!("../test-cases/level-2-brief.json"),
    },
    Level {
        number: 3,
        json: include_str!("../test-cases/level-3-procedural.json"),
    },
];

/// The content of a level's file.
#[derive(serde::Deserialize)]
struct LevelContent {
    name: String,
    description: String,
    cases: Vec<Case>,
}

impl Level {
    /// The level with this number, if there is one.
    pub fn find(number: u32) -> Option<Self> {
        LEVELS.iter().copied().find(|level| level.number == number)
    }

    /// The name of the level.
    pub fn name(&self) -> String {
        self.file().name
    }

    /// The kind of its texts.
    pub fn description(&self) -> String {
        self.file().description
    }

    /// The cases of the level.
    pub fn cases(&self) -> Vec<Case> {
        self.file().cases
    }

    #[expect(
        clippy::expect_used,
        reason = "the files are embedded and the test below reads them"
    )]
    fn file(&self) -> LevelContent {
        serde_json::from_str(self.json).expect("a level file")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_hold_the_four_cases() {
        let ids: Vec<_> = LEVELS
            .iter()
            .flat_map(Level::cases)
            .map(|case| case.id)
            .collect();
        assert_eq!(ids, ["1a", "1b", "2a", "3a"]);
        let procedural = Level::find(3).unwrap().cases().remove(0);
        assert_eq!(
            procedural.expected_output.as_deref(),
            Some("U:essence reveals Compression")
        );
        assert_eq!(Level::find(4), None);
    }
}
