use std::collections::HashSet;

/// The ids of the tool calls of one reply, by which results refer to calls: none is empty, and all differ.
///
/// The work is linear in the number of calls for any ids of a server.
#[derive(Debug, Default)]
pub(crate) struct CallIds {
    taken: HashSet<String>,
    /// The number in the last generated id.
    made: u64,
}

impl CallIds {
    /// The id of the next call: the server's `id` if it is usable, else a generated one that `elsewhere` does not contain.
    pub fn settle(&mut self, mut id: String, elsewhere: impl Fn(&str) -> bool) -> String {
        while id.is_empty() || self.taken.contains(&id) {
            self.made += 1;
            let made = format!("call_{}", self.made);
            if !elsewhere(&made) {
                id = made;
            }
        }
        self.taken.insert(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u64 = 1_000_000;

    /// Every number is looked up once: the work is that of a reply whose calls have ids.
    #[test]
    fn a_million_calls_without_an_id_take_a_million_numbers() {
        let mut ids = CallIds::default();
        for n in 1..=MANY {
            assert_eq!(ids.settle(String::new(), |_| false), format!("call_{n}"));
        }
        assert_eq!(ids.made, MANY);
    }

    #[test]
    fn ids_that_look_like_ours_cost_a_look_each_and_no_more() {
        let mut ids = CallIds::default();
        for n in 1..=1000 {
            ids.settle(format!("call_{n}"), |_| false);
        }
        for n in 1001..=2000 {
            assert_eq!(ids.settle("call_1".into(), |_| false), format!("call_{n}"));
        }
        assert_eq!(ids.made, 2000);
    }

    #[test]
    fn an_id_that_is_known_elsewhere_is_not_made() {
        let mut ids = CallIds::default();
        assert_eq!(ids.settle("a".into(), |_| true), "a");
        let settled = ids.settle(String::new(), |id| id == "call_1");
        assert_eq!(settled, "call_2");
    }
}
