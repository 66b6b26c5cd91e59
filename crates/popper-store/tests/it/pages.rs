//! Pages of rows, and the transaction that they share.

use popper_discovery::store::{LawStatus, Query, RowPage, RunRow, Store};
use popper_store::{Access, Database};

use crate::made;
use crate::place::{self, Place as _};

/// The keys of the tested laws and of the attempts, page by page.
async fn keys(store: &mut impl Store, run: &RunRow, limit: u32) -> (Vec<i64>, Vec<i64>) {
    let (mut tested, mut attempts) = (Vec::new(), Vec::new());
    let mut next = Some(RowPage::first(limit));
    while let Some(page) = next {
        let rows = store.tested_page(run, page).await.unwrap();
        assert!(rows.len() <= limit as usize);
        next = page.next(&rows, |row| row.law.id);
        tested.extend(rows.iter().map(|row| row.law.id));
    }
    let mut next = Some(RowPage::first(limit));
    while let Some(page) = next {
        let query = Query::attempts(run, page.after, page.limit);
        let rows = store.findings(query).await.unwrap();
        next = page.next(&rows, |row| row.evaluation.id);
        attempts.extend(rows.iter().map(|row| row.evaluation.id));
    }
    (tested, attempts)
}

/// A reader sees one state from the beginning of its transaction to the end, and the newest one after it.
async fn one_state(writer: &mut impl Store, reader: &mut impl Store) {
    let laws = made::queue(writer, 40).await;
    let run = RunRow {
        id: laws[0].run_id,
        ..made::run()
    };
    let decisions = made::decisions(&laws);
    writer.commit(&decisions[..25]).await.unwrap();

    reader.begin_reading().await.unwrap();
    let before = keys(reader, &run, 7).await;
    assert_eq!((before.0.len(), before.1.len()), (25, 25));
    writer.commit(&decisions[25..]).await.unwrap();
    for limit in [1, 5, 25, 1000] {
        assert_eq!(keys(reader, &run, limit).await, before, "{limit}");
    }
    assert_eq!(reader.tally(&run).await.unwrap().evaluations, 25);
    let page = RowPage::first(100);
    let rows = reader.law_page(run.id, page).await.unwrap();
    let queued = rows.iter().filter(|row| row.status == LawStatus::Queued);
    assert_eq!((rows.len(), queued.count()), (40, 15));
    reader.end_reading().await.unwrap();

    let after = keys(reader, &run, 7).await;
    assert_eq!((after.0.len(), after.1.len()), (40, 40));
    // Ended twice, or not begun: nothing happens.
    reader.end_reading().await.unwrap();
}

#[tokio::test]
async fn the_pages_of_a_file_are_of_one_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("popper.db");
    let mut writer = made::write(&path).await;
    let mut reader = Database::open(&path, Access::Read).await.unwrap();
    one_state(&mut writer, &mut reader).await;
}

#[tokio::test]
async fn the_pages_of_a_server_are_of_one_state() {
    let Some(place) = place::server() else { return };
    let mut writer = place.open(Access::Write).await;
    let mut reader = place.open(Access::Read).await;
    one_state(&mut writer, &mut reader).await;
}

#[tokio::test]
async fn a_write_ends_the_reading() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = made::write(&folder.path().join("popper.db")).await;
    let laws = made::queue(&mut database, 6).await;
    let run = RunRow {
        id: laws[0].run_id,
        ..made::run()
    };
    database.begin_reading().await.unwrap();
    assert_eq!(keys(&mut database, &run, 4).await.0.len(), 0);
    database.commit(&made::decisions(&laws)).await.unwrap();
    assert_eq!(keys(&mut database, &run, 4).await.0.len(), 6);
    database.end_reading().await.unwrap();
}
