//! The order in which tests run: as written, or shuffled; always after the tests they need.

/// A small generator (splitmix64), so that a seed gives the same order everywhere, for ever.
#[derive(Debug, Clone)]
pub(super) struct Shuffle(u64);

impl Shuffle {
    pub(super) fn new(seed: u64) -> Shuffle {
        Shuffle(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            items.swap(last, other);
        }
    }
}

/// Positions in `wanted` order, each after the positions it needs.
pub(super) fn after_needs(wanted: &[usize], needs: impl Fn(usize) -> Vec<usize>, count: usize) -> Vec<usize> {
    let mut placed = vec![false; count];
    let mut order = Vec::with_capacity(wanted.len());
    let mut stack: Vec<(usize, bool)> = Vec::new();
    for &first in wanted {
        stack.push((first, false));
        while let Some((at, ready)) = stack.pop() {
            if placed[at] {
                continue;
            }
            if ready {
                placed[at] = true;
                order.push(at);
            } else {
                stack.push((at, true));
                stack.extend(needs(at).into_iter().filter(|need| !placed[*need]).map(|need| (need, false)));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_come_first_and_everything_comes_once() {
        let needs = |at: usize| match at {
            0 => vec![2],
            2 => vec![3],
            _ => vec![],
        };
        assert_eq!(after_needs(&[0, 1, 2, 3], needs, 4), [3, 2, 0, 1]);
    }

    #[test]
    fn a_seed_gives_one_order() {
        let order = |seed| {
            let mut items: Vec<u32> = (0..20).collect();
            Shuffle::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
    }
}
