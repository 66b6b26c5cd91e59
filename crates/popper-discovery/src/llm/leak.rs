//! The search for words and symbols in a prompt that reveal the universe.

use super::symbol_mask::SymbolMask;

/// Words that reveal the subject of the universe, in lower case. Plurals and other forms are separate entries.
const ANSWERS: [&str; 50] = [
    "annihilate",
    "automata",
    "automaton",
    "ballistic",
    "billiard",
    "bounce",
    "bounces",
    "bouncing",
    "collide",
    "collided",
    "collides",
    "colliding",
    "collision",
    "collisions",
    "conserved",
    "elastic",
    "gas",
    "kinetic",
    "leftward",
    "leftwards",
    "mirror",
    "mirrored",
    "mirrors",
    "momenta",
    "momentum",
    "motion",
    "move",
    "moved",
    "movement",
    "movements",
    "mover",
    "movers",
    "moves",
    "moving",
    "particle",
    "particles",
    "period",
    "periodic",
    "periodically",
    "periodicity",
    "periods",
    "photon",
    "rightward",
    "rightwards",
    "speed",
    "streaming",
    "swap",
    "swapped",
    "swaps",
    "velocity",
];

/// The operators of the language, which look like a state between spaces or brackets.
const OPERATORS: [&str; 21] = [
    "->", "=>", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "&&", "||", "!", "(",
    ")", "()", "[]", "{}",
];

impl SymbolMask {
    /// Returns the first word or state in a text that a blind model must not see. `None` for a model that is not blind.
    ///
    /// Hidden are a symbol of the universe inside of quotes, a bare row of them, a name that has a neutral one, and a word that
    /// reveals the subject of the universe, also as a part of a longer name.
    ///
    /// A single symbol outside of quotes is ignored: `>` is an operator, and a letter may be a word. Prompts write every state
    /// and symbol in single quotes, so that none is missed.
    pub fn leaks(&self, text: &str) -> Option<String> {
        if self.is_open() {
            return None;
        }
        self.hidden_symbols(text)
            .or_else(|| self.hidden_word(text))
            .map(str::to_owned)
    }

    fn hidden_symbols<'a>(&self, text: &'a str) -> Option<&'a str> {
        let hidden = |c: char| self.hidden().contains(&c);
        // Every second piece between single quotes is inside of them; a symbol is no blank, so quotes do not span lines.
        let mut quoted = text
            .lines()
            .flat_map(|line| line.split('\'').skip(1).step_by(2));
        let in_quotes = quoted.find(|inside| inside.chars().any(hidden));
        // Elsewhere only a row of symbols counts, one with a dot or an arrow in it: `T` and `5` are words and numbers of the prompt
        // even where they are symbols too.
        let is_state = |word: &&str| {
            word.chars().nth(1).is_some()
                && !OPERATORS.contains(word)
                && !word.chars().all(char::is_alphanumeric)
                && word.chars().all(hidden)
        };
        let in_double = || text.split('"').find(is_state);
        let bare = || {
            text.split(|c: char| c.is_whitespace() || "\"',;:()[]{}".contains(c))
                .find(is_state)
        };
        in_quotes.or_else(in_double).or_else(bare)
    }

    fn hidden_word<'a>(&self, text: &'a str) -> Option<&'a str> {
        let names = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        names.filter(|name| !name.is_empty()).find(|name| {
            // A universe may call a transform by a word of every day, which then gives nothing away.
            (name.contains('_') && self.hides(name)) || words(name).any(|word| is_answer(&word))
        })
    }
}

/// The words of a name, in lower case: `rightMovers_2` has three.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut last_lower = false;
    for c in name.chars() {
        if !c.is_alphabetic() || (last_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        last_lower = c.is_lowercase();
    }
    words.into_iter()
}

fn is_answer(word: &str) -> bool {
    ANSWERS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use popper_harness::decide::{Config, Harness};
    use popper_harness::universe::{KineticGrid, Tabulated, Universe, random_universe};

    use super::super::prompts;
    use super::*;
    use crate::snapshot::{Capabilities, UniverseContract};

    fn blind(universe: impl Universe) -> SymbolMask {
        let contract = UniverseContract::of(&Tabulated::of(&universe).unwrap());
        let harness = Harness::new(universe, Config::default()).unwrap();
        SymbolMask::blind(&contract, &Capabilities::of(&harness), 0)
    }

    #[test]
    fn the_words_are_sorted() {
        assert!(ANSWERS.is_sorted());
    }

    #[test]
    fn what_gives_something_away_is_found() {
        let mask = blind(KineticGrid);
        for (text, found) in [
            ("start '..><.X'", "..><.X"),
            ("start ..><.X,", "..><.X"),
            ("count('X') == 1", "X"),
            ("count('_X') == 1", "_X"),
            ("{\"state\": \">.\"}", ">."),
            ("a Moving thing", "Moving"),
            ("the right_movers", "right_movers"),
            ("rightMovers", "rightMovers"),
            ("commutes(mirror_only)", "mirror_only"),
            ("edge_wrapping_cases", "edge_wrapping_cases"),
            ("incoming_collisions", "incoming_collisions"),
            ("a law of Kinetic_grid_v1", "Kinetic_grid_v1"),
        ] {
            assert_eq!(mask.leaks(text).as_deref(), Some(found), "{text}");
            assert_eq!(SymbolMask::open().leaks(text), None);
        }
    }

    #[test]
    fn a_world_of_digits_letters_and_marks_does_not_trip_over_our_own_words() {
        let world = r#"{"id": "w", "symbols": "5T:2H", "radius": 1,
            "rule": {"patterns": [["?5?", "T"]], "default": "5"}}"#;
        let mask = blind(Tabulated::from_json(world).unwrap());
        let shown = [
            prompts::SYSTEM,
            prompts::TEMPLATES,
            prompts::SNAPSHOT,
            prompts::REQUEST,
            prompts::REPAIR,
        ];
        for prompt in shown {
            assert_eq!(mask.leaks(prompt.text), None, "{}", prompt.name);
        }
        assert!(mask.leaks("start '5T:2'").is_some());
    }

    #[test]
    fn operators_neutral_names_and_other_words_pass() {
        let mask = blind(KineticGrid);
        for text in [
            "o1(t) > 0 -> o1(t+1) < 2",
            "{\"op\": \"<\", \"rhs\": \">=\"}",
            "state '_AKB', T1, F3, cue. Remove it; 0.5",
            "X marks a spot",
        ] {
            assert_eq!(mask.leaks(text), None, "{text}");
        }
        let letters = blind(random_universe(3));
        assert_eq!(letters.leaks("a cab, b = 10"), None);
        assert_eq!(letters.leaks("'ab'").as_deref(), Some("ab"));
        assert_eq!(letters.leaks("cab.").as_deref(), Some("cab."));
    }
}
