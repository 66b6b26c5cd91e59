//! States and steps, cell by cell: the slow way, so that nothing clever is shared with the harness.

use serde_json::Value;

/// A state as positions in the universe's symbol order.
pub type Cells = [u8];

const EMPTY: u8 = 0;
const RIGHT: u8 = 1;
const LEFT: u8 = 2;
const BOTH: u8 = 3;

enum Rule {
    Kinetic,
    /// `next[window]`, the window read as a number in base `symbols`, leftmost cell first.
    Table {
        radius: usize,
        next: Vec<u8>,
    },
}

#[derive(Clone, Debug)]
pub enum Transform {
    /// New cell i takes old cell i - k.
    Shift(i64),
    Map {
        reverse: bool,
        map: Vec<u8>,
    },
}

pub struct Universe {
    pub symbols: Vec<char>,
    forbidden_at_start: Vec<bool>,
    named: Vec<(String, Transform)>,
    rule: Rule,
}

impl Universe {
    pub fn kinetic() -> Self {
        let map = |reverse, map: [u8; 4]| Transform::Map {
            reverse,
            map: map.to_vec(),
        };
        let swapped = [EMPTY, LEFT, RIGHT, BOTH];
        Self {
            symbols: vec!['.', '>', '<', 'X'],
            forbidden_at_start: vec![false, false, false, true],
            named: vec![
                ("mirror_swap".into(), map(true, swapped)),
                ("mirror_only".into(), map(true, [EMPTY, RIGHT, LEFT, BOTH])),
                ("swap_only".into(), map(false, swapped)),
            ],
            rule: Rule::Kinetic,
        }
    }

    /// A table universe from its JSON value. The message says what is wrong with it.
    pub fn table(json: &Value) -> Result<Self, String> {
        let symbols = characters(&json["symbols"]).ok_or("symbols")?;
        let index = |c: char| {
            symbols
                .iter()
                .position(|&s| s == c)
                .map(|i| i as u8)
                .ok_or_else(|| format!("{c:?} is not a symbol"))
        };
        let radius = json["radius"].as_u64().ok_or("radius")? as usize;
        let width = 2 * radius + 1;
        let base = symbols.len();
        let total = base.pow(width as u32);
        let single = |value: &Value| {
            let all = characters(value).ok_or("a symbol was expected")?;
            match all[..] {
                [c] => index(c),
                _ => Err(format!("{value} is not one symbol")),
            }
        };

        let mut next = vec![None; total];
        if let Some(table) = json["rule"]["table"].as_object() {
            for (window, to) in table {
                let mut at = 0;
                for c in window.chars() {
                    at = at * base + usize::from(index(c)?);
                }
                *next.get_mut(at).ok_or("a window of another width")? = Some(single(to)?);
            }
        } else {
            let patterns = json["rule"]["patterns"].as_array().ok_or("rule")?;
            for (at, cell) in next.iter_mut().enumerate() {
                let window: Vec<char> = (0..width)
                    .map(|i| symbols[at / base.pow((width - 1 - i) as u32) % base])
                    .collect();
                let mut hit = &json["rule"]["default"];
                for entry in patterns {
                    let pattern = characters(&entry[0]).ok_or("pattern")?;
                    if pattern.len() == width
                        && pattern
                            .iter()
                            .zip(&window)
                            .all(|(p, c)| *p == '?' || p == c)
                    {
                        hit = &entry[1];
                        break;
                    }
                }
                *cell = (!hit.is_null()).then(|| single(hit)).transpose()?;
            }
        }
        let next = next
            .into_iter()
            .collect::<Option<Vec<u8>>>()
            .ok_or("the table is not total")?;

        let mut forbidden_at_start = vec![false; base];
        for c in characters(&json["initial_forbidden"]).unwrap_or_default() {
            forbidden_at_start[usize::from(index(c)?)] = true;
        }
        let mut named = Vec::new();
        for entry in json["transforms"].as_array().into_iter().flatten() {
            let mut map: Vec<u8> = (0..base as u8).collect();
            for (from, to) in entry["map"].as_object().into_iter().flatten() {
                map[usize::from(single(&Value::from(from.as_str()))?)] = single(to)?;
            }
            named.push((
                entry["name"].as_str().ok_or("transform name")?.to_string(),
                Transform::Map {
                    reverse: entry["reverse"].as_bool().unwrap_or(false),
                    map,
                },
            ));
        }
        Ok(Self {
            symbols,
            forbidden_at_start,
            named,
            rule: Rule::Table { radius, next },
        })
    }

    pub fn is_kinetic(&self) -> bool {
        matches!(self.rule, Rule::Kinetic)
    }

    pub fn symbol(&self, c: char) -> Option<u8> {
        self.symbols.iter().position(|&s| s == c).map(|i| i as u8)
    }

    pub fn cells(&self, state: &str) -> Option<Vec<u8>> {
        state.chars().map(|c| self.symbol(c)).collect()
    }

    pub fn text(&self, cells: &Cells) -> String {
        cells
            .iter()
            .map(|&c| self.symbols[usize::from(c)])
            .collect()
    }

    pub fn may_start(&self, cells: &Cells) -> bool {
        !cells.is_empty()
            && cells
                .iter()
                .all(|&c| !self.forbidden_at_start[usize::from(c)])
    }

    pub fn step(&self, now: &Cells, then: &mut Cells) {
        let n = now.len();
        match &self.rule {
            Rule::Kinetic => {
                for i in 0..n {
                    let from_left = now[if i == 0 { n - 1 } else { i - 1 }];
                    let from_right = now[if i + 1 == n { 0 } else { i + 1 }];
                    let comes_right = from_left == RIGHT || from_left == BOTH;
                    let comes_left = from_right == LEFT || from_right == BOTH;
                    then[i] = match (comes_right, comes_left) {
                        (true, true) => BOTH,
                        (true, false) => RIGHT,
                        (false, true) => LEFT,
                        (false, false) => EMPTY,
                    };
                }
            }
            Rule::Table { radius, next } => {
                for (i, cell) in then.iter_mut().enumerate() {
                    let mut window = 0;
                    for offset in 0..=2 * radius {
                        // A ring may be shorter than the radius; n * radius keeps the sum positive.
                        let at = (i + offset + n * radius - radius) % n;
                        window = window * self.symbols.len() + usize::from(now[at]);
                    }
                    *cell = next[window];
                }
            }
        }
    }

    /// The cells that will be `X` in the next step, asked of the neighbours.
    pub fn incoming_collisions(cells: &Cells) -> i64 {
        let n = cells.len();
        let mut count = 0;
        for i in 0..n {
            let left = cells[(i + n - 1) % n];
            let right = cells[(i + 1) % n];
            if (left == RIGHT || left == BOTH) && (right == LEFT || right == BOTH) {
                count += 1;
            }
        }
        count
    }

    /// Returns every transform that the name means on a ring of n cells: one, or all shifts for `shift_k`.
    pub fn transforms(&self, name: &str, n: usize) -> Option<Vec<Transform>> {
        if let Some((_, transform)) = self.named.iter().find(|(known, _)| known == name) {
            return Some(vec![transform.clone()]);
        }
        let k = name.strip_prefix("shift_")?;
        if k == "k" {
            return Some((0..n as i64).map(Transform::Shift).collect());
        }
        Some(vec![Transform::Shift(k.parse().ok()?)])
    }

    /// All admissible starts of n cells, in symbol order.
    pub fn starts(&self, n: usize) -> Vec<Vec<u8>> {
        let allowed: Vec<u8> = (0..self.symbols.len() as u8)
            .filter(|&c| !self.forbidden_at_start[usize::from(c)])
            .collect();
        let mut all = vec![Vec::new()];
        for _ in 0..n {
            all = all
                .iter()
                .flat_map(|head| {
                    allowed.iter().map(|&c| {
                        let mut longer = head.clone();
                        longer.push(c);
                        longer
                    })
                })
                .collect();
        }
        all
    }
}

impl Transform {
    pub fn apply(&self, old: &Cells, new: &mut Cells) {
        let n = old.len();
        match self {
            Self::Shift(k) => {
                let k = k.rem_euclid(n as i64) as usize;
                for (i, cell) in new.iter_mut().enumerate() {
                    *cell = old[(i + n - k) % n];
                }
            }
            Self::Map { reverse, map } => {
                for (i, cell) in new.iter_mut().enumerate() {
                    let from = if *reverse { n - 1 - i } else { i };
                    *cell = map[usize::from(old[from])];
                }
            }
        }
    }
}

/// `"abc"` or `["a", "b", "c"]`.
fn characters(value: &Value) -> Option<Vec<char>> {
    match value {
        Value::String(text) => Some(text.chars().collect()),
        Value::Array(items) => items
            .iter()
            .map(|item| {
                let mut chars = item.as_str()?.chars();
                let first = chars.next()?;
                chars.next().is_none().then_some(first)
            })
            .collect(),
        _ => None,
    }
}
