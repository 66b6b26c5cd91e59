//! The key-value store: limits, and what damage does.

use std::fs;

use hermitcrab_kernel::toolbox::Kv;
use llm_client::Redactor;
use serde_json::{Value, json};

use crate::place::Setting;

fn keys(kv: &Kv) -> Vec<String> {
    kv.list().into_iter().map(|one| one.key).collect()
}

#[test]
fn values_outlive_the_store_in_a_folder_only() {
    let data = tempfile::tempdir().unwrap();
    for dir in [Some(data.path()), None] {
        let kv = Kv::open(dir, &Redactor::default()).unwrap();
        assert!(kv.list().is_empty() && kv.skipped().is_empty());
        assert_eq!(kv.get("a").unwrap(), None);
        kv.put("a", &json!("text")).unwrap();
        kv.put("b", &json!({"n": [1, null]})).unwrap();
        kv.put("a", &json!("new")).unwrap();
        kv.put("gone", &Value::Null).unwrap();
        assert_eq!(kv.get("gone").unwrap(), Some(Value::Null));
        assert!(kv.delete("gone").unwrap());
        assert!(!kv.delete("gone").unwrap());
        assert_eq!(kv.get("a").unwrap(), Some(json!("new")));
        assert_eq!(keys(&kv), ["a", "b"]);
    }
    let kv = Kv::open(Some(data.path()), &Redactor::default()).unwrap();
    assert_eq!(kv.get("b").unwrap(), Some(json!({"n": [1, null]})));
    let first = &kv.list()[0];
    let bytes = r#"{"key":"a","value":"new"}"#.len();
    assert_eq!((first.key.as_str(), first.bytes), ("a", bytes));
    assert_eq!(kv.list().len(), 2);
}

#[test]
fn any_text_is_a_key() {
    let data = tempfile::tempdir().unwrap();
    let long = "é".repeat(200);
    let odd = [
        "../../x",
        "/etc/passwd",
        "NUL",
        "a",
        "A",
        "\n\"",
        ".",
        &long,
    ];
    let kv = Kv::open(Some(data.path()), &Redactor::default()).unwrap();
    for (n, key) in odd.iter().enumerate() {
        kv.put(key, &json!(n)).unwrap();
    }
    let kv = Kv::open(Some(data.path()), &Redactor::default()).unwrap();
    for (n, key) in odd.iter().enumerate() {
        assert_eq!(kv.get(key).unwrap(), Some(json!(n)), "{key:?}");
    }
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 1);
    let too_long = "x".repeat(201);
    for key in ["", "a\0b", &too_long] {
        assert_eq!(kv.get(key).unwrap_err().kind, "bad_key");
        assert_eq!(kv.put(key, &json!(1)).unwrap_err().kind, "bad_key");
        assert_eq!(kv.delete(key).unwrap_err().kind, "bad_key");
    }
}

#[test]
fn a_value_has_at_most_a_mebibyte() {
    let kv = Kv::open(None, &Redactor::default()).unwrap();
    // With its quotes.
    let fits = "x".repeat((1 << 20) - 2);
    kv.put("a", &json!(fits)).unwrap();
    let more = format!("{fits}x");
    assert_eq!(kv.put("a", &json!(more)).unwrap_err().kind, "too_large");
    assert_eq!(kv.get("a").unwrap(), Some(json!(fits)));
}

#[test]
fn all_have_at_most_64_mebibytes() {
    let kv = Kv::open(None, &Redactor::default()).unwrap();
    let value = json!("x".repeat((1 << 20) - 2));
    let mut put = 0;
    while kv.put(&format!("k{put:02}"), &value).is_ok() {
        put += 1;
    }
    assert_eq!(put, 63, "the keys count as well");
    assert_eq!(kv.put("more", &value).unwrap_err().kind, "full");
    kv.put("small", &json!(1)).unwrap();
    // What replaces a value takes its room; what is deleted gives it back.
    kv.put("k00", &value).unwrap();
    assert!(kv.delete("k00").unwrap());
    kv.put("more", &value).unwrap();
    assert_eq!(kv.put("k00", &value).unwrap_err().kind, "full");
}

#[test]
fn damaged_files_are_left_alone_and_named() {
    let data = tempfile::tempdir().unwrap();
    let kv = Kv::open(Some(data.path()), &Redactor::default()).unwrap();
    for key in ["cut", "moved", "well", "late"] {
        kv.put(key, &json!(key)).unwrap();
    }
    let folder = data.path().join("kv");
    let holding = |key: &str| {
        let mut files = fs::read_dir(&folder)
            .unwrap()
            .map(|file| file.unwrap().path());
        let inside = format!("\"key\":\"{key}\"");
        files
            .find(|file| fs::read_to_string(file).unwrap().contains(&inside))
            .unwrap()
    };
    let (cut, late) = (holding("cut"), holding("late"));
    fs::write(&cut, "{\"key\":\"cut\",\"val").unwrap();
    fs::rename(holding("moved"), folder.join("0000.json")).unwrap();
    fs::write(folder.join("left.tmp"), "half").unwrap();
    let kv = Kv::open(Some(data.path()), &Redactor::default()).unwrap();
    assert_eq!(keys(&kv), ["late", "well"]);
    let skipped = kv.skipped();
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    assert!(cut.exists() && folder.join("0000.json").exists());
    // Damaged after the store was opened: told when it is read, and put right by a new value.
    fs::write(late, "no").unwrap();
    assert_eq!(kv.get("late").unwrap_err().kind, "corrupt");
    kv.put("late", &json!(2)).unwrap();
    assert_eq!(kv.get("late").unwrap(), Some(json!(2)));
    kv.put("cut", &json!(3)).unwrap();
    assert_eq!(
        Kv::open(Some(data.path()), &Redactor::default())
            .unwrap()
            .skipped()
            .len(),
        1
    );
}

/// H21: what is being written by another thread is not swept away by the first call of a tool; a new start does that.
#[tokio::test]
async fn h21_drafts_are_swept_at_the_start_and_never_later() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Setting::default().in_dir(dir.path()).script([]);
    let (place, _) = open();
    let draft = dir.path().join("kv/.kernel-draft");
    fs::create_dir_all(draft.parent().unwrap()).unwrap();
    fs::write(&draft, "half").unwrap();
    let put = json!({"key": "a", "value": "text"});
    assert!(!place.tool("idb_put", put).await.is_error);
    assert!(draft.exists());
    drop(place);
    open();
    assert!(!draft.exists());
}
