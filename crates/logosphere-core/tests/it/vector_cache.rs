//! The file of vectors of a server.

use std::fs;
use std::path::{Path, PathBuf};

use logosphere_core::experiment::{ExperimentError, VectorCache, VectorLock};
use logosphere_core::measures::embedding::{Embeddings, Encoder, PROBES, TextHash};
use tempfile::{TempDir, tempdir};

const NAME: &str = "generic:m";
type Probes = [Vec<f32>; PROBES.len()];

fn probes(dims: usize) -> Probes {
    let vector = |probe: usize| (0..dims).map(|n| (n + probe) as f32 - 1.5).collect();
    [0, 1, 2, 3].map(vector)
}

fn encoder(name: &str, probes: &Probes) -> Encoder {
    Encoder::new(name, "model-1", probes)
}

fn text(number: usize) -> TextHash {
    Embeddings::hash(&format!("text {number}"))
}

/// The vectors of these texts.
fn added(numbers: std::ops::Range<usize>, dims: usize) -> Vec<(TextHash, Vec<f32>)> {
    let vector = |number: usize| (0..dims).map(|n| (n * 7 + number) as f32 + 0.25).collect();
    numbers
        .map(|number| (text(number), vector(number)))
        .collect()
}

fn lock(folder: &TempDir) -> VectorLock {
    VectorLock::take(folder.path(), 7).unwrap()
}

fn create(folder: &TempDir, name: &str, probes: &Probes) -> VectorCache {
    VectorCache::create(&lock(folder), &encoder(name, probes), probes).unwrap()
}

fn find(folder: &TempDir) -> Result<Option<VectorCache>, ExperimentError> {
    VectorCache::find(folder.path(), NAME)
}

fn found(folder: &TempDir) -> VectorCache {
    find(folder).unwrap().unwrap()
}

/// A cache with three texts, and its file.
fn three(dims: usize) -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let mut cache = create(&folder, NAME, &probes(dims));
    cache.add(&lock(&folder), &added(0..3, dims)).unwrap();
    let path = cache.path().to_owned();
    (folder, path)
}

/// The names of all files of vectors.
fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path().join("analysis/embeddings")).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "lock")
        .collect();
    names.sort();
    names
}

/// The message about a damaged file, which names it and the remedy.
#[track_caller]
fn damage(folder: &TempDir, path: &Path) -> String {
    let error = find(folder).unwrap_err();
    assert!(
        matches!(error, ExperimentError::VectorFile { .. }),
        "{error:?}"
    );
    assert!(error.is_usage());
    let message = error.to_string();
    for words in [path.to_str().unwrap(), "remove the file", "--embed-fresh"] {
        assert!(message.contains(words), "{words} is missing: {message}");
    }
    message
}

#[test]
fn a_file_has_the_encoder_the_probes_and_the_texts_in_order() {
    let (folder, path) = three(2);
    let bytes = fs::read(&path).unwrap();
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let expected = encoder(NAME, &probes(2));
    assert_eq!(
        path.parent().unwrap(),
        folder.path().join("analysis/embeddings")
    );
    assert_eq!(path.file_stem().unwrap(), &expected.sha256[..16]);
    let header: Encoder = serde_json::from_slice(&bytes[..end]).unwrap();
    assert_eq!(header, expected);
    let mut records = Vec::new();
    let probed = PROBES.map(Embeddings::hash).into_iter().zip(probes(2));
    for (text, vector) in probed.chain(added(0..3, 2)) {
        records.extend(text);
        for number in vector {
            records.extend(number.to_le_bytes());
        }
    }
    assert_eq!(bytes[end + 1..], records);
}

#[test]
fn what_was_added_is_found_and_scaled_to_length_1() {
    let (folder, _) = three(3);
    let cache = found(&folder);
    let mut expected = Embeddings::new(encoder(NAME, &probes(3)));
    for (text, vector) in added(0..3, 3) {
        expected.insert(text, vector).unwrap();
    }
    for (text, vector) in PROBES.map(Embeddings::hash).into_iter().zip(probes(3)) {
        expected.insert(text, vector).unwrap();
    }
    assert_eq!(cache.embeddings(), &expected);
    assert_eq!(cache.into_embeddings(), expected);
    assert!(find(&tempdir().unwrap()).unwrap().is_none());
    assert!(
        VectorCache::find(folder.path(), "generic:other")
            .unwrap()
            .is_none()
    );
}

#[test]
fn texts_are_added_over_several_processes_and_none_twice() {
    let (folder, path) = three(2);
    let before = fs::read(&path).unwrap();
    let mut cache = found(&folder);
    let lock = lock(&folder);
    cache.add(&lock, &added(1..4, 2)).unwrap();
    cache
        .add(&lock, &[added(4..5, 2), added(4..5, 2)].concat())
        .unwrap();
    let after = fs::read(&path).unwrap();
    assert_eq!(after.len(), before.len() + 2 * (32 + 8));
    assert_eq!(after[..before.len()], before);
    assert_eq!(found(&folder).embeddings(), cache.embeddings());
    assert_eq!(cache.embeddings().len(), 4 + 5);
}

#[test]
fn a_torn_last_record_is_ignored_and_cut_at_the_next_append() {
    let (folder, path) = three(2);
    let whole = fs::read(&path).unwrap();
    let record = 32 + 8;
    for torn in 1..record {
        let end = whole.len() - torn;
        fs::write(&path, &whole[..end]).unwrap();
        let mut cache = found(&folder);
        assert_eq!(cache.embeddings().len(), 4 + 2, "{torn}");
        assert_eq!(
            fs::read(&path).unwrap().len(),
            end,
            "a reader writes nothing"
        );
        cache.add(&lock(&folder), &added(2..3, 2)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole, "{torn}");
    }
}

#[test]
fn a_file_is_refused_unless_it_has_the_form() {
    let (folder, path) = three(2);
    let whole = fs::read(&path).unwrap();
    let end = whole.iter().position(|byte| *byte == b'\n').unwrap();
    let header = String::from_utf8(whole[..end].to_vec()).unwrap();
    let records = &whole[end + 1..];
    let with = |header: &str| [header.as_bytes(), b"\n", records].concat();
    let long = header.replace("model-1", &"m".repeat(64_000));
    let dims = |number: &str| header.replace("\"dims\":2", &format!("\"dims\":{number}"));
    let sha256 = encoder(NAME, &probes(2)).sha256;
    let other = header.replace(&sha256, &format!("{}{}", &sha256[..16], "0".repeat(48)));
    let short = header.replace(&sha256, "é");
    let record = |number: usize, at: usize, bytes: &[u8]| {
        let mut changed = whole.clone();
        let start = end + 1 + number * 40 + at;
        changed[start..start + bytes.len()].copy_from_slice(bytes);
        changed
    };
    let texts_vector = |number: usize| records[number * 40..][..32].to_vec();
    for (content, words) in [
        (Vec::new(), "a first line"),
        (b"\n".to_vec(), "the encoder in the first line"),
        (header.clone().into_bytes(), "without an end"),
        (with(&long), "more than 64000 bytes"),
        (vec![b'x'; 200_000], "more than 64000 bytes"),
        (with("[1]"), "the encoder in the first line"),
        (with(&dims("0")), "dims from 1 to 100000, got 0"),
        (with(&dims("100001")), "dims from 1 to 100000, got 100001"),
        (with(&dims("18446744073709551615")), "dims from 1 to 100000"),
        (with(&dims("-1")), "the encoder in the first line"),
        (with(&dims("3")), "record 2: expected the probe"),
        (with(&other), "the sha256 of its first line"),
        (with(&short), "the sha256 of a file"),
        (whole[..=end].to_vec(), "the 4 probes, got 0 records"),
        (whole[..end + 1 + 3 * 40 + 39].to_vec(), "got 3 records"),
        (record(2, 0, &[9]), "record 3: expected the probe"),
        (
            record(2, 32, &1e3_f32.to_le_bytes()),
            "the sha256 of its first line",
        ),
        (
            record(5, 32, &f32::NAN.to_le_bytes()),
            "record 6: expected finite numbers, got NaN",
        ),
        (
            record(6, 36, &f32::INFINITY.to_le_bytes()),
            "record 7: expected finite numbers, got inf",
        ),
        (
            record(4, 32, &[0; 8]),
            "record 5: expected a vector with a direction",
        ),
        (
            record(5, 0, &texts_vector(4)),
            "record 6: its text has a vector",
        ),
    ] {
        fs::write(&path, content).unwrap();
        let message = damage(&folder, &path);
        assert!(message.contains(words), "{words} is missing: {message}");
        assert!(message.len() < 500, "{}", message.len());
    }
    fs::write(&path, &whole).unwrap();
    assert_eq!(found(&folder).embeddings().len(), 7);
    let moved = path.with_file_name("0123456789abcdef.bin");
    fs::rename(&path, &moved).unwrap();
    assert!(damage(&folder, &moved).contains("the sha256 of a file"));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let (folder, path) = three(2);
    fs::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    assert!(damage(&folder, &path).contains("not a regular file"));
}

/// The name of an encoder's file.
fn file(name: &str, dims: usize, ending: &str) -> String {
    let encoder = encoder(name, &probes(dims));
    format!("{}.{ending}", &encoder.sha256[..16])
}

fn create_fresh(folder: &TempDir, dims: usize) -> VectorCache {
    let probes = probes(dims);
    VectorCache::create_fresh(&lock(folder), &encoder(NAME, &probes), &probes).unwrap()
}

#[test]
fn a_replacement_takes_the_place_of_the_older_files_of_its_name_alone() {
    let (folder, old) = three(2);
    create(&folder, "generic:other", &probes(2));
    fs::write(old.with_file_name("00.bin"), "damaged").unwrap();
    fs::write(old.with_file_name("notes.txt"), "kept").unwrap();
    // The good file is used, although one is damaged.
    assert_eq!(found(&folder).embeddings().len(), 7);
    let mut cache = create_fresh(&folder, 3);
    cache.replace_kept(&lock(&folder)).unwrap();
    let others = ["00.bin", "notes.txt"].map(str::to_owned);
    let mut expected = vec![file("generic:other", 2, "bin"), file(NAME, 3, "bin")];
    expected.extend(others);
    expected.sort();
    assert_eq!(names(&folder), expected);
    assert_eq!(found(&folder).embeddings(), cache.embeddings());
    assert_eq!(cache.embeddings().len(), 4);
    // The moved file takes more.
    cache.add(&lock(&folder), &added(0..3, 3)).unwrap();
    assert_eq!(found(&folder).embeddings(), cache.embeddings());
    // The same encoder begins again.
    let mut cache = create_fresh(&folder, 3);
    cache.replace_kept(&lock(&folder)).unwrap();
    assert_eq!(found(&folder).embeddings().len(), 4);
    assert_eq!(names(&folder), expected);
}

#[test]
fn the_older_file_stays_until_it_is_replaced_and_an_unfinished_one_continues() {
    let (folder, old) = three(2);
    let before = found(&folder);
    let fresh = |folder: &TempDir| VectorCache::find_fresh(&lock(folder), NAME).unwrap();
    assert!(fresh(&folder).is_none());
    let mut cache = create_fresh(&folder, 3);
    cache.add(&lock(&folder), &added(0..2, 3)).unwrap();
    drop(cache);
    assert_eq!(found(&folder).embeddings(), before.embeddings());
    let mut cache = fresh(&folder).unwrap();
    assert_eq!(cache.embeddings().len(), 4 + 2);
    cache.add(&lock(&folder), &added(1..3, 3)).unwrap();
    drop(cache);
    // One that cannot be read is passed over, and replaced by the next.
    let path = old.with_file_name(file(NAME, 3, "fresh"));
    let whole = fs::read(&path).unwrap();
    fs::write(&path, "damaged").unwrap();
    assert!(fresh(&folder).is_none());
    create_fresh(&folder, 3);
    assert_eq!(fresh(&folder).unwrap().embeddings().len(), 4);
    // Another encoder of this name begins another.
    create_fresh(&folder, 4);
    let mut expected = vec![file(NAME, 2, "bin"), file(NAME, 4, "fresh")];
    expected.sort();
    assert_eq!(names(&folder), expected);
    fs::remove_file(old.with_file_name(file(NAME, 4, "fresh"))).unwrap();
    fs::write(&path, whole).unwrap();
    let mut cache = fresh(&folder).unwrap();
    cache.replace_kept(&lock(&folder)).unwrap();
    assert_eq!(names(&folder), [file(NAME, 3, "bin")]);
    assert_eq!(found(&folder).embeddings().len(), 4 + 3);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_or_removed_through_a_link() {
    use std::os::unix::fs::symlink;
    let (folder, path) = three(2);
    let away = tempdir().unwrap();
    let moved = away.path().join("moved");
    let place = |name: &str| folder.path().join(name);
    let whole = fs::read(&path).unwrap();
    for name in [
        "analysis",
        "analysis/embeddings",
        "analysis/embeddings/lock",
    ] {
        fs::rename(place(name), &moved).unwrap();
        for target in [moved.clone(), away.path().join("missing")] {
            symlink(target, place(name)).unwrap();
            let error = VectorLock::take(folder.path(), 8).unwrap_err();
            assert!(error.is_usage(), "{error:?}");
            fs::remove_file(place(name)).unwrap();
        }
        fs::rename(&moved, place(name)).unwrap();
    }
    assert_eq!(
        fs::read_to_string(place("analysis/embeddings/lock")).unwrap(),
        "7\n"
    );
    fs::rename(&path, &moved).unwrap();
    symlink(&moved, &path).unwrap();
    let error = found(&folder)
        .add(&lock(&folder), &added(3..4, 2))
        .unwrap_err();
    assert!(error.is_usage(), "{error:?}");
    // A link in the place of a replacement is not followed either.
    let probed = probes(2);
    let created = VectorCache::create(&lock(&folder), &encoder(NAME, &probed), &probed);
    assert!(created.unwrap_err().is_usage());
    let mut cache = create_fresh(&folder, 2);
    assert!(cache.replace_kept(&lock(&folder)).unwrap_err().is_usage());
    assert_eq!(fs::read(&moved).unwrap(), whole);
}

#[test]
fn two_files_of_one_encoder_are_an_error_that_names_both() {
    let (folder, first) = three(2);
    let aside = first.with_file_name("aside");
    fs::rename(&first, &aside).unwrap();
    let second = create(&folder, NAME, &probes(3)).path().to_owned();
    fs::rename(&aside, &first).unwrap();
    let [first, second] = if first < second {
        [first, second]
    } else {
        [second, first]
    };
    let message = damage(&folder, &second);
    assert!(message.contains(first.to_str().unwrap()), "{message}");
    let mut fresh = create_fresh(&folder, 4);
    fresh.replace_kept(&lock(&folder)).unwrap();
    assert_eq!(found(&folder).embeddings().len(), 4);
}

#[test]
fn an_encoder_that_could_not_be_read_again_is_not_written() {
    let folder = tempdir().unwrap();
    let lock = lock(&folder);
    let mut uneven = probes(2);
    uneven[2].push(1.0);
    let mut endless = probes(2);
    endless[3][1] = f32::INFINITY;
    let of = |probes: Probes, model: &str| (Encoder::new(NAME, model, &probes), probes);
    for ((encoder, probes), words) in [
        (of(probes(0), "m"), "dims from 1"),
        (of(probes(100_001), "m"), "got 100001"),
        (of(probes(2), &"m".repeat(64_000)), "more than 64000 bytes"),
        (of(uneven, "m"), "probe"),
        (of(endless, "m"), "record 4: expected finite numbers"),
        (of([(); 4].map(|()| vec![0.0, 0.0]), "m"), "a direction"),
    ] {
        let error = VectorCache::create(&lock, &encoder, &probes).unwrap_err();
        assert!(
            matches!(error, ExperimentError::Vectors { .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains(words), "{error}");
        assert!(!error.is_usage());
        assert_eq!(names(&folder), [""; 0]);
    }
}

#[test]
fn a_vector_that_cannot_be_used_keeps_all_of_its_request_out() {
    let (folder, path) = three(2);
    let before = fs::read(&path).unwrap();
    let mut cache = found(&folder);
    let lock = lock(&folder);
    for wrong in [vec![1.0], vec![1.0, f32::NAN], vec![0.0, 0.0]] {
        let mut vectors = added(3..6, 2);
        vectors[1].1 = wrong;
        let error = cache.add(&lock, &vectors).unwrap_err();
        assert!(error.to_string().contains("vector 1: "), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(cache.embeddings().len(), 7);
    }
    cache.add(&lock, &added(3..6, 2)).unwrap();
    assert_eq!(found(&folder).embeddings().len(), 10);
}

#[test]
fn an_encoder_is_known_by_the_directions_of_its_probes() {
    let folder = tempdir().unwrap();
    let cache = create(&folder, NAME, &probes(5));
    let changed = |change: &dyn Fn(&mut Probes)| {
        let mut probes = probes(5);
        change(&mut probes);
        cache.is_of_encoder(&probes)
    };
    assert!(changed(&|_| {}));
    // The last digits differ from call to call, and a length says nothing.
    assert!(changed(&|probes| probes[1][2] += 0.01));
    assert!(changed(&|probes| probes[2]
        .iter_mut()
        .for_each(|number| *number *= 3.0)));
    assert!(!changed(&|probes| probes[3][0] += 0.2));
    assert!(!changed(&|probes| probes[0]
        .iter_mut()
        .for_each(|number| *number = -*number)));
    assert!(!changed(&|probes| probes.swap(0, 1)));
    assert!(!changed(&|probes| probes[0] = vec![0.0; 5]));
    assert!(!changed(&|probes| probes[3].truncate(4)));
}

#[test]
fn one_process_adds_vectors_and_others_read() {
    let (folder, path) = three(2);
    let held = lock(&folder);
    let error = VectorLock::take(folder.path(), 8).unwrap_err();
    assert!(
        matches!(error, ExperimentError::InUse { pid: Some(7), .. }),
        "{error:?}"
    );
    assert_eq!(found(&folder).embeddings().len(), 7);
    // Read before the lock: another process has added a record since.
    let mut late = found(&folder);
    found(&folder).add(&held, &added(3..4, 2)).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(late.add(&held, &added(4..5, 2)).is_err());
    assert_eq!(fs::read(&path).unwrap(), before);
    drop(held);
    // A killed process leaves a draft.
    let draft = path.with_file_name(".draft-x.part");
    fs::write(&draft, "half").unwrap();
    drop(lock(&folder));
    assert!(!draft.exists());
}
