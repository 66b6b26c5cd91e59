//! Sealed files, and what players see of them.

use popper_discovery::lab::{Baseline, Episode, LabError, LabTier, SealedUniverse};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Numbers, Recorded};

/// The texts that would give a universe away: the salt, the definition, each entry of the table as JSON, and the table as one word.
fn secrets(sealed: &SealedUniverse) -> Vec<String> {
    let file: Value = serde_json::from_str(&sealed.to_json()).unwrap();
    let table = file["definition"]["rule"]["table"].as_object().unwrap();
    let entries = table
        .iter()
        .map(|(window, next)| format!("\"{window}\":{next}"));
    let word = |next: &Value| next.as_str().unwrap().to_owned();
    let in_order: String = table.values().map(word).collect();
    let mut rows: Vec<(&String, &Value)> = table.iter().collect();
    let symbols = file["definition"]["symbols"].as_str().unwrap();
    rows.sort_by_key(|(window, _)| {
        let places = window.chars().map(|c| symbols.find(c));
        places.collect::<Vec<_>>()
    });
    let by_symbols: String = rows.into_iter().map(|(_, next)| word(next)).collect();
    let salt = file["salt"].as_str().unwrap().to_owned();
    let bytes: Vec<String> = (0..32)
        .map(|byte| {
            u8::from_str_radix(&salt[2 * byte..2 * byte + 2], 16)
                .unwrap()
                .to_string()
        })
        .collect();
    [
        salt,
        bytes.join(", "),
        bytes.join(","),
        in_order,
        by_symbols,
        file["definition"].to_string(),
    ]
    .into_iter()
    .chain(entries)
    .collect()
}

#[test]
fn no_output_of_a_thousand_episodes_has_the_table_or_the_salt() {
    let mut numbers = Numbers(3);
    let mut bytes = 0;
    for number in 0..1000 {
        let tier = LabTier::ALL[number % 4];
        let mut recorded = Recorded::new(tier, number as u64);
        let contract = recorded.episode.contract().clone();
        for _ in 0..3 {
            let start = numbers.ring(1 + number % 8, &contract.symbols);
            let request = json!({"experiment": {"start": start, "steps": 1 + numbers.below(20)}});
            recorded.ask(request.to_string());
        }
        let refused = [
            "salt",
            r#"{"experiment": {"start": "salt", "steps": 1}}"#,
            r#"{"predict": [{"id": "definition", "state": ""}]}"#,
            r#"{"laws": [{"law_id": "table"}]}"#,
        ];
        for line in refused {
            recorded.ask(line);
        }
        recorded.ask(r#"{"predict": []}"#);
        if number % 100 == 0 {
            let law = super::invariant("a", "count('a')", 5);
            recorded.accepted(&json!({"laws": [law]}));
        }
        // After the end, too: a player who plays again would know the universe.
        if number % 10 == 0 {
            recorded.accepted(&json!({"end": true}));
        }
        // The log has each line that was handed out.
        let output = format!(
            "{}{:?}{:?}",
            recorded.log, recorded.sealed, recorded.episode
        );
        for secret in secrets(&recorded.sealed) {
            assert!(!output.contains(&secret), "{number}: {secret}");
        }
        bytes += output.len();
    }
    assert!(bytes > 1_000_000);
}

#[test]
fn a_scan_finds_what_is_there() {
    let sealed = SealedUniverse::from_seed(LabTier::A, 1).unwrap();
    let file: Value = serde_json::from_str(&sealed.to_json()).unwrap();
    let text = file.to_string();
    let found = secrets(&sealed)
        .iter()
        .filter(|secret| text.contains(*secret))
        .count();
    // The salt, the definition and 64 entries; the bytes and the words are in no file.
    assert_eq!(found, 66);
}

#[test]
fn baselines_know_the_public_file_only() {
    let sealed = SealedUniverse::from_seed(LabTier::A, 9).unwrap();
    let mut episode = Episode::new(sealed.clone());
    let contract = episode.contract().clone();
    let mut said = String::new();
    let ask = &mut |line: &str| {
        said += line;
        Ok::<_, ()>(episode.line(line).line)
    };
    Baseline::VersionSpace.play(&contract, 0, ask).unwrap();
    assert!(secrets(&sealed).iter().all(|secret| !said.contains(secret)));
}

#[test]
fn the_commitment_can_be_computed_by_hand() {
    for tier in LabTier::ALL {
        let sealed = SealedUniverse::from_seed(tier, 5).unwrap();
        let text = sealed.to_json();
        let file: Value = serde_json::from_str(&text).unwrap();
        let salt = file["salt"].as_str().unwrap();
        // The keys of the definition in the order of the file.
        let definition = serde_json::to_string(&sealed.universe().definition()).unwrap();
        let lines = format!("popper-lab/1\n{}\n{salt}\n{definition}", tier.name());
        let by_hand = hex::encode(Sha256::digest(lines));
        assert_eq!(sealed.commitment(), by_hand);
        assert_eq!(sealed.contract().commitment, by_hand);
        let read = SealedUniverse::from_json(&text).unwrap();
        assert_eq!(read.contract(), sealed.contract());
        assert_eq!(read.to_json(), text);
    }
}

#[test]
fn another_file_does_not_match() {
    let [one, other] = [1, 2].map(|seed| SealedUniverse::from_seed(LabTier::A, seed).unwrap());
    assert!(one.check(&one.contract(), "the file").is_ok());
    let mismatch = one.check(&other.contract(), "the file");
    assert!(
        matches!(mismatch, Err(LabError::Mismatch { .. })),
        "{mismatch:?}"
    );
    // One bit of the salt, one window of the table.
    let file: Value = serde_json::from_str(&one.to_json()).unwrap();
    let mut salted = file.clone();
    let salt = file["salt"].as_str().unwrap();
    let digit = if salt.starts_with('0') { "1" } else { "0" };
    salted["salt"] = json!(format!("{digit}{}", &salt[1..]));
    let mut ruled = file.clone();
    let next = &mut ruled["definition"]["rule"]["table"]["abc"];
    *next = json!(if *next == "a" { "b" } else { "a" });
    for edited in [salted, ruled] {
        let edited = SealedUniverse::from_json(&edited.to_string()).unwrap();
        let mismatch = edited.check(&one.contract(), "the file");
        assert!(
            matches!(mismatch, Err(LabError::Mismatch { .. })),
            "{mismatch:?}"
        );
    }
    let mut eased = one.contract();
    eased.limits.budget_cells += 1;
    let edited = one.check(&eased, "the file").unwrap_err();
    let line = "the file has the commitment of the sealed file, but differs from it: it was edited";
    assert_eq!(edited.to_string(), line);
}

#[test]
fn a_sealed_file_is_read_strictly() {
    let file: Value =
        serde_json::from_str(&SealedUniverse::from_seed(LabTier::B, 1).unwrap().to_json()).unwrap();
    let error = |change: &dyn Fn(&mut Value)| {
        let mut changed = file.clone();
        change(&mut changed);
        SealedUniverse::from_json(&changed.to_string())
            .unwrap_err()
            .to_string()
    };
    assert!(error(&|file| file["hint"] = json!(1)).contains("unknown field `hint`"));
    assert_eq!(
        error(&|file| file["salt"] = json!("00")),
        "$.salt: expected 64 hex digits"
    );
    assert_eq!(
        error(&|file| file["tier"] = json!("A")),
        "$.definition.id: expected lab_a in tier A"
    );
    assert!(error(&|file| file["schema_version"] = json!("9")).contains("expected \"1.0.0\""));
    assert!(error(&|file| file["definition"]["initial_forbidden"] = json!("a")).contains("tier B"));
    assert!(error(&|file| file["definition"]["transforms"] = json!([])).contains("transforms"));
    assert!(error(&|file| file["definition"]["radius"] = json!(1)).contains("rule.table"));
    assert!(SealedUniverse::from_json("[]").is_err());
    assert!(SealedUniverse::from_json(r#"{"tier": "A", "tier": "B"}"#).is_err());
}

#[test]
fn a_seed_gives_the_same_files_and_another_seed_others() {
    let mut known = std::collections::BTreeSet::new();
    for tier in LabTier::ALL {
        for seed in 0..20 {
            let [first, second] = [(); 2].map(|()| SealedUniverse::from_seed(tier, seed).unwrap());
            assert_eq!(first.to_json(), second.to_json());
            assert_eq!(first.contract(), second.contract());
            assert!(known.insert(first.commitment()));
        }
    }
}
