//! Which of many runs are merged so that there are few again.
//!
//! The smaller half is merged, and larger ones with it as long as none is larger than all before together. So a row is copied only into something
//! of about twice the size, and each row is copied about log(N) times, however runs come in.

/// Takes the items that are to be merged out of `items`: at least two, if there are two.
pub fn take_smallest<T>(items: &mut Vec<T>, size: impl Fn(&T) -> u64) -> Vec<T> {
    items.sort_by_key(|item| std::cmp::Reverse(size(item)));
    let at_least = items.len().div_ceil(2).max(2);
    let (mut n, mut sum) = (0, 0);
    for item in items.iter().rev() {
        if n >= at_least && size(item) > sum {
            break;
        }
        n += 1;
        sum += size(item);
    }
    items.split_off(items.len() - n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_is_merged() {
        let check = |sizes: &[u64], merged: &[u64]| {
            let mut left = sizes.to_vec();
            let mut taken = take_smallest(&mut left, |size| *size);
            taken.sort_unstable();
            assert_eq!(taken, merged);
            assert_eq!(left.len() + taken.len(), sizes.len());
        };
        check(&[], &[]);
        check(&[5], &[5]);
        check(&[1, 100], &[1, 100]);
        check(&[1000, 1, 100, 2], &[1, 2]);
        check(&[1000, 1, 100, 2, 3, 90], &[1, 2, 3]);
        check(&[1000, 40, 100, 30, 30, 90], &[30, 30, 40, 90, 100]);
    }

    #[test]
    fn rows_are_copied_seldom_however_runs_come_in() {
        for grows in [1, 2, 17] {
            let (mut items, mut copied, mut all) = (Vec::new(), 0, 0);
            for i in 0..10_000_u64 {
                let size = 1 + i % (grows * 10);
                items.push(size);
                all += size;
                if items.len() > 16 {
                    let merged: u64 = take_smallest(&mut items, |size| *size).iter().sum();
                    copied += merged;
                    items.push(merged);
                }
                assert!(items.len() <= 16);
            }
            assert!(copied < 6 * all, "{copied} of {all}");
        }
    }
}
