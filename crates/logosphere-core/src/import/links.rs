//! The reads of messages: recorded, or assumed from threads or from the newest messages.

use super::list_members::ListMembers;
use crate::verify::Exposure;

/// The largest number of reads that are assumed from a thread: those above first, then the newest earlier answers.
pub(super) const MOST_OF_A_THREAD: usize = 100;

/// The largest number of reads of all messages that are assumed, or found in an old journal.
pub(super) const MOST_READS: usize = 20_000_000;

/// The links of a message to earlier ones, as indexes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Links {
    pub(super) parents: Vec<usize>,
    pub(super) reads: Vec<usize>,
}

/// Fills the reads of all messages by an exposure; `None` if more than `most` are assumed. `authors` has the number of the
/// author of each message; `None` is an unknown author, who counts as another one each time. A parent was always read,
/// unless reads are unknown.
pub(super) fn fill_reads(
    links: &mut [Links],
    authors: &[Option<u32>],
    exposure: Exposure,
    most: usize,
) -> Option<()> {
    match exposure {
        Exposure::Recorded => {}
        Exposure::Unknown => {
            for link in links {
                link.reads.clear();
            }
            return Some(());
        }
        Exposure::Thread => fill_threads(links, most)?,
        Exposure::Window(size) => fill_windows(links, authors, size.get(), most)?,
    }
    let mut members = ListMembers::default();
    for link in links {
        members.begin();
        for &read in &link.reads {
            members.insert(read);
        }
        let parents = link.parents.iter().copied();
        let unread = parents.filter(|&parent| members.insert(parent));
        link.reads.extend(unread);
    }
    Some(())
}

fn fill_threads(links: &mut [Links], most: usize) -> Option<()> {
    let mut left = most;
    // The messages whose first parent is a message, in order.
    let mut answers: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
    for at in 0..links.len() {
        let mut reads = Vec::new();
        let mut above = links[at].parents.first().copied();
        while let Some(message) = above.filter(|_| reads.len() < MOST_OF_A_THREAD) {
            reads.push(message);
            above = links[message].parents.first().copied();
        }
        if let Some(&parent) = links[at].parents.first() {
            let earlier = answers[parent].iter().rev();
            reads.extend(earlier.take(MOST_OF_A_THREAD - reads.len()));
            answers[parent].push(at);
        }
        left = left.checked_sub(reads.len())?;
        links[at].reads = reads;
    }
    Some(())
}

fn fill_windows(
    links: &mut [Links],
    authors: &[Option<u32>],
    size: usize,
    most: usize,
) -> Option<()> {
    let mut left = most;
    // The newest message before each one that is by another author.
    let mut others: Vec<Option<usize>> = Vec::with_capacity(links.len());
    for at in 0..links.len() {
        let is_own = |other: usize| authors[at].is_some() && authors[other] == authors[at];
        let mut reads = Vec::new();
        let mut next = at.checked_sub(1);
        while let Some(other) = next.filter(|_| reads.len() < size) {
            if is_own(other) {
                next = others[other];
            } else {
                reads.push(other);
                next = other.checked_sub(1);
            }
        }
        others.push(match at.checked_sub(1) {
            Some(before) if is_own(before) => others[before],
            before => before,
        });
        left = left.checked_sub(reads.len())?;
        links[at].reads = reads;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(
        parents: &[Option<usize>],
        authors: &[Option<u32>],
        exposure: &str,
    ) -> Vec<Vec<usize>> {
        let mut links: Vec<Links> = (parents.iter())
            .map(|parent| Links {
                parents: parent.iter().copied().collect(),
                reads: Vec::new(),
            })
            .collect();
        fill_reads(&mut links, authors, exposure.parse().unwrap(), MOST_READS).unwrap();
        links.into_iter().map(|link| link.reads).collect()
    }

    #[test]
    fn a_thread_is_read_from_below_with_its_earlier_answers() {
        let parents = [None, Some(0), Some(0), Some(1), Some(0), None];
        let reads = filled(&parents, &[None; 6], "thread");
        assert_eq!(
            reads,
            [
                vec![],
                vec![0],
                vec![0, 1],
                vec![1, 0],
                vec![0, 2, 1],
                vec![]
            ]
        );
        assert_eq!(
            filled(&parents, &[None; 6], "none"),
            vec![Vec::<usize>::new(); 6]
        );
        // A long chain and many answers to one message have a limit.
        let chain: Vec<_> = (0..300).map(|at: usize| at.checked_sub(1)).collect();
        assert_eq!(filled(&chain, &[None; 300], "thread")[299].len(), 100);
        let star: Vec<_> = (0..300).map(|at: usize| (at > 0).then_some(0)).collect();
        let last = &filled(&star, &[None; 300], "thread")[299];
        assert_eq!((last.len(), last[0], last[1], last[99]), (100, 0, 298, 200));
    }

    #[test]
    fn a_window_has_the_newest_messages_of_other_authors() {
        let authors = [Some(0), Some(1), Some(1), Some(0), Some(1), None, None];
        let parents = [None, None, None, None, Some(0), None, None];
        let reads = filled(&parents, &authors, "window:2");
        assert_eq!(
            reads,
            [
                vec![],
                vec![0],
                vec![0],
                vec![2, 1],
                vec![3, 0],
                vec![4, 3],
                vec![5, 4]
            ]
        );
        // More reads than the most are an error before they are kept.
        let mut links = vec![Links::default(); 4];
        let mut fill =
            |size: &str, most| fill_reads(&mut links, &[None; 4], size.parse().unwrap(), most);
        assert_eq!(fill("window:3", 6), Some(()));
        assert_eq!(fill("window:3", 5), None);
        assert_eq!(fill("window:2", 5), Some(()));
        // One author alone reads nothing, in time that grows with the number of messages.
        let alone = filled(&vec![None; 3000], &vec![Some(0); 3000], "window:15");
        assert!(alone.iter().all(Vec::is_empty));
    }
}
