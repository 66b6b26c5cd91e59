//! A second scorer, which reads the sealed file and the log as texts and shares no code with the first one: characters, maps and
//! counting by hand.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

/// The numbers of an episode that follow from its two files.
#[derive(Debug, PartialEq, Eq)]
pub struct BruteScore {
    /// Time, cells, right, abstained, chance.
    pub times: Vec<[u64; 5]>,
    pub spent: u64,
    pub experiments: u64,
    pub rejected: u64,
}

/// A universe as a map from windows to characters.
pub struct BruteUniverse {
    table: HashMap<Vec<char>, char>,
    radius: isize,
    symbols: Vec<char>,
    transforms: Vec<(String, bool, HashMap<char, char>)>,
}

fn chars(value: &Value) -> Vec<char> {
    value.as_str().unwrap().chars().collect()
}

impl BruteUniverse {
    pub fn new(sealed: &str) -> Self {
        let file: Value = serde_json::from_str(sealed).unwrap();
        let definition = &file["definition"];
        let table = definition["rule"]["table"].as_object().unwrap();
        let transforms = definition["transforms"].as_array().unwrap();
        Self {
            table: table
                .iter()
                .map(|(window, next)| (window.chars().collect(), chars(next)[0]))
                .collect(),
            radius: definition["radius"].as_i64().unwrap() as isize,
            symbols: chars(&definition["symbols"]),
            transforms: transforms
                .iter()
                .map(|one| {
                    let map = one["map"].as_object().unwrap().iter();
                    let map = map.map(|(from, to)| (from.chars().next().unwrap(), chars(to)[0]));
                    let name = one["name"].as_str().unwrap().to_owned();
                    (name, one["reverse"].as_bool().unwrap(), map.collect())
                })
                .collect(),
        }
    }

    pub fn step(&self, ring: &[char]) -> Vec<char> {
        let n = ring.len() as isize;
        let at = |cell: isize| ring[cell.rem_euclid(n) as usize];
        (0..n)
            .map(|cell| {
                let window: Vec<char> = (cell - self.radius..=cell + self.radius).map(at).collect();
                self.table[&window]
            })
            .collect()
    }

    /// All rings of a length.
    fn rings(&self, length: usize) -> Vec<Vec<char>> {
        let mut rings = vec![Vec::new()];
        for _ in 0..length {
            let longer = |ring: &Vec<char>| {
                let with = |symbol: &char| [ring.as_slice(), &[*symbol]].concat();
                self.symbols.iter().map(with).collect::<Vec<_>>()
            };
            rings = rings.iter().flat_map(longer).collect();
        }
        rings
    }

    /// The transforms that commute with a step of every ring of five cells, which hold every window of either radius.
    pub fn commuting(&self) -> BTreeSet<String> {
        let rings = self.rings(5);
        let commutes = |(_, reverse, map): &&(String, bool, HashMap<char, char>)| {
            let image = |ring: &[char]| {
                let mut image: Vec<char> = ring.iter().map(|c| *map.get(c).unwrap_or(c)).collect();
                if *reverse {
                    image.reverse();
                }
                image
            };
            rings
                .iter()
                .all(|ring| self.step(&image(ring)) == image(&self.step(ring)))
        };
        let all = self.transforms.iter().filter(commutes);
        all.map(|(name, ..)| name.clone()).collect()
    }

    /// The dimension of the sums of pair counts that no step of a small ring changes, apart from the number of cells.
    ///
    /// Changes are combinations of counts, so it is the rank of the counts less the rank of the changes.
    pub fn conserved(&self, longest: usize) -> u64 {
        let counts = |ring: &[char]| {
            let mut counts = vec![0u64; self.symbols.len() * self.symbols.len()];
            let place = |c: char| self.symbols.iter().position(|s| *s == c).unwrap();
            for cell in 0..ring.len() {
                let next = ring[(cell + 1) % ring.len()];
                counts[place(ring[cell]) * self.symbols.len() + place(next)] += 1;
            }
            counts
        };
        let (mut all, mut changes) = (ModularRank::default(), ModularRank::default());
        for ring in (1..=longest).flat_map(|length| self.rings(length)) {
            let (now, next) = (counts(&ring), counts(&self.step(&ring)));
            let change = now.iter().zip(&next).map(|(now, next)| PRIME + next - now);
            changes.add(change.collect());
            all.add(now);
        }
        (all.rows.len() - changes.rows.len() - 1) as u64
    }
}

/// The values that are visible in a state.
fn visible(ring: &[char], observables: &[Value]) -> Vec<i64> {
    let value = |name: &Value| {
        let pattern: Vec<char> = name
            .as_str()
            .unwrap()
            .split('\'')
            .nth(1)
            .unwrap()
            .chars()
            .collect();
        let n = ring.len();
        let fits = |cell: &usize| {
            (0..pattern.len()).all(|offset| ring[(cell + offset) % n] == pattern[offset])
        };
        (0..n).filter(fits).count() as i64
    };
    observables.iter().map(value).collect()
}

const PRIME: u64 = 1_000_003;

/// Rows in echelon form modulo a prime.
#[derive(Default)]
struct ModularRank {
    rows: Vec<(usize, Vec<u64>)>,
}

impl ModularRank {
    fn add(&mut self, mut row: Vec<u64>) {
        for entry in &mut row {
            *entry %= PRIME;
        }
        for (lead, other) in &self.rows {
            let factor = row[*lead];
            for (entry, other) in row.iter_mut().zip(other) {
                *entry = (*entry + (PRIME - factor) * other) % PRIME;
            }
        }
        let Some(lead) = row.iter().position(|entry| *entry != 0) else {
            return;
        };
        let inverse = (0..20).rev().fold(1, |power, bit| {
            let squared = power * power % PRIME;
            if (PRIME - 2) >> bit & 1 == 1 {
                squared * row[lead] % PRIME
            } else {
                squared
            }
        });
        let row = row.iter().map(|entry| entry * inverse % PRIME).collect();
        self.rows.push((lead, row));
    }
}

/// Scores a log.
pub fn score(sealed: &str, log: &str) -> BruteScore {
    let universe = BruteUniverse::new(sealed);
    let mut lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let contract = lines.next().unwrap();
    let mut found = BruteScore {
        times: Vec::new(),
        spent: 0,
        experiments: 0,
        rejected: 0,
    };
    let mut given: HashMap<String, Value> = HashMap::new();
    for entry in lines {
        if entry["answer"].get("error").is_some() {
            found.rejected += 1;
            continue;
        }
        let request: Value = serde_json::from_str(entry["line"].as_str().unwrap()).unwrap();
        if let Some(experiment) = request.get("experiment") {
            let cells = chars(&experiment["start"]).len() as u64;
            found.spent += cells * experiment["steps"].as_u64().unwrap();
            found.experiments += 1;
        }
        for one in request
            .get("predict")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let answer = one.get("state").or_else(|| one.get("values")).unwrap();
            given.insert(one["id"].as_str().unwrap().to_owned(), answer.clone());
        }
        if request.get("end").is_some() {
            break;
        }
    }
    let observables = contract["visible"]
        .get("observables")
        .and_then(Value::as_array);
    for time in contract["questions"]["times"].as_array().unwrap() {
        let time = time.as_u64().unwrap();
        let [mut cells, mut right, mut abstained] = [0; 3];
        let mut constants: BTreeMap<(usize, String), u64> = BTreeMap::new();
        for (id, start) in contract["questions"]["starts"].as_object().unwrap() {
            let ring = (0..time).fold(chars(start), |ring, _| universe.step(&ring));
            let truth: Vec<String> = match observables {
                None => ring.iter().map(char::to_string).collect(),
                Some(names) => visible(&ring, names).iter().map(i64::to_string).collect(),
            };
            let answer = given.get(&format!("{id}.{time}"));
            for (position, truth) in truth.iter().enumerate() {
                cells += 1;
                let said = match answer {
                    Some(Value::String(state)) => state.chars().nth(position).map(String::from),
                    Some(Value::Array(values)) if !values[position].is_null() => {
                        Some(values[position].to_string())
                    }
                    _ => None,
                };
                abstained += u64::from(said.is_none());
                right += u64::from(said.as_ref() == Some(truth));
                let position = if observables.is_some() { position } else { 0 };
                *constants.entry((position, truth.clone())).or_default() += 1;
            }
        }
        let positions: BTreeSet<usize> = constants.keys().map(|(position, _)| *position).collect();
        let best = |position: &usize| {
            let of_it = constants.iter().filter(|((at, _), _)| at == position);
            *of_it.map(|(_, count)| count).max().unwrap()
        };
        let chance = positions.iter().map(best).sum();
        found.times.push([time, cells, right, abstained, chance]);
    }
    found
}
