//! Which element of a list belongs to which, so that one inserted element is one difference and not a shifted rest.

/// How two lists lie beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// Elements that agree.
    Same,
    /// Elements that belong together and differ: expected, actual.
    Changed(usize, usize),
    /// An expected element with nothing beside it.
    Missing(usize),
    /// An actual element with nothing beside it.
    Extra(usize),
}

/// Past this many comparisons only a window around the current place is searched.
const TABLE: usize = 10_000;
/// How far that search looks ahead.
const WINDOW: usize = 32;
/// Differences after which that search ends: no more of them are kept.
const ENOUGH: usize = super::Found::LIMIT;
/// Elements less alike than this are not the same element changed.
const ALIKE: f32 = 0.34;

/// Aligns `expected` and `actual` elements. `same` says whether two agree, `like` how alike they are (0 to 1), and
/// `swap` whether two that stand at the same place and are not alike are still shown as one change.
pub(super) fn align(
    expected: usize,
    actual: usize,
    same: impl Fn(usize, usize) -> bool,
    like: impl Fn(usize, usize) -> f32,
    swap: impl Fn(usize, usize) -> bool,
) -> Vec<Pair> {
    let shorter = expected.min(actual);
    let head = (0..shorter).take_while(|&at| same(at, at)).count();
    let tail = (0..shorter - head).take_while(|&back| same(expected - 1 - back, actual - 1 - back)).count();
    let (rows, columns) = (expected - head - tail, actual - head - tail);
    let mut pairs = vec![Pair::Same; head];
    let middle = if rows.saturating_mul(columns) <= TABLE {
        table(rows, columns, |i, j| if same(head + i, head + j) { 1.0 } else { like(head + i, head + j).min(0.99) })
    } else {
        window(rows, columns, |i, j| same(head + i, head + j))
    };
    let shift = |pair| match pair {
        Pair::Same => Pair::Same,
        Pair::Changed(i, j) => Pair::Changed(head + i, head + j),
        Pair::Missing(i) => Pair::Missing(head + i),
        Pair::Extra(j) => Pair::Extra(head + j),
    };
    join_gaps(middle.into_iter().map(shift), &mut pairs, swap);
    pairs.extend(std::iter::repeat_n(Pair::Same, tail));
    pairs
}

/// The alignment with the greatest sum of likeness.
fn table(rows: usize, columns: usize, score: impl Fn(usize, usize) -> f32) -> Vec<Pair> {
    let width = columns + 1;
    let mut best = vec![0.0f32; (rows + 1) * width];
    let mut scores = vec![0.0f32; rows * columns];
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            let own = score(i, j);
            scores[i * columns + j] = own;
            let skip = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            let pair = if own >= ALIKE { own + best[(i + 1) * width + j + 1] } else { 0.0 };
            best[i * width + j] = skip.max(pair);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::with_capacity(rows.max(columns));
    while i < rows && j < columns {
        let own = scores[i * columns + j];
        let here = best[i * width + j];
        if own >= ALIKE && here <= own + best[(i + 1) * width + j + 1] {
            pairs.push(if own >= 1.0 { Pair::Same } else { Pair::Changed(i, j) });
            (i, j) = (i + 1, j + 1);
        } else if here <= best[(i + 1) * width + j] {
            pairs.push(Pair::Missing(i));
            i += 1;
        } else {
            pairs.push(Pair::Extra(j));
            j += 1;
        }
    }
    pairs.extend((i..rows).map(Pair::Missing));
    pairs.extend((j..columns).map(Pair::Extra));
    pairs
}

/// For long lists: go side by side, and where they part look a little ahead for the next agreement.
fn window(rows: usize, columns: usize, same: impl Fn(usize, usize) -> bool) -> Vec<Pair> {
    let (mut i, mut j) = (0, 0);
    let (mut pairs, mut differences) = (Vec::with_capacity(rows.max(columns)), 0);
    while i < rows && j < columns {
        if differences >= ENOUGH {
            return pairs;
        }
        if same(i, j) {
            pairs.push(Pair::Same);
            (i, j) = (i + 1, j + 1);
            continue;
        }
        differences += 1;
        let ahead = (1..WINDOW).find_map(|skip| {
            let extra = j + skip < columns && same(i, j + skip);
            let missing = i + skip < rows && same(i + skip, j);
            (extra || missing).then_some((skip, extra))
        });
        match ahead {
            Some((skip, true)) => {
                pairs.extend((j..j + skip).map(Pair::Extra));
                j += skip;
            }
            Some((skip, false)) => {
                pairs.extend((i..i + skip).map(Pair::Missing));
                i += skip;
            }
            None => {
                pairs.push(Pair::Changed(i, j));
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    pairs.extend((i..rows).map(Pair::Missing));
    pairs.extend((j..columns).map(Pair::Extra));
    pairs
}

/// In a run of missing and extra elements, those that face each other become changes where `swap` says so.
fn join_gaps(middle: impl Iterator<Item = Pair>, pairs: &mut Vec<Pair>, swap: impl Fn(usize, usize) -> bool) {
    let (mut missing, mut extra) = (Vec::new(), Vec::new());
    for pair in middle {
        match pair {
            Pair::Missing(i) => missing.push(i),
            Pair::Extra(j) => extra.push(j),
            other => {
                flush(&mut missing, &mut extra, pairs, &swap);
                pairs.push(other);
            }
        }
    }
    flush(&mut missing, &mut extra, pairs, &swap);
}

fn flush(
    missing: &mut Vec<usize>,
    extra: &mut Vec<usize>,
    pairs: &mut Vec<Pair>,
    swap: &impl Fn(usize, usize) -> bool,
) {
    let facing = if missing.len() == extra.len() { missing.len() } else { 0 };
    for at in 0..facing {
        match (missing[at], extra[at]) {
            (i, j) if swap(i, j) => pairs.push(Pair::Changed(i, j)),
            (i, j) => pairs.extend([Pair::Missing(i), Pair::Extra(j)]),
        }
    }
    pairs.extend(missing.drain(..).skip(facing).map(Pair::Missing));
    pairs.extend(extra.drain(..).skip(facing).map(Pair::Extra));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(a: &[i32], b: &[i32]) -> Vec<Pair> {
        let like = |i: usize, j: usize| if a[i] / 10 == b[j] / 10 { 0.5 } else { 0.0 };
        align(a.len(), b.len(), |i, j| a[i] == b[j], like, |_, _| true)
    }

    #[test]
    fn one_inserted_element_is_one_difference() {
        assert_eq!(of(&[1, 2, 3], &[1, 9, 2, 3]), [Pair::Same, Pair::Extra(1), Pair::Same, Pair::Same]);
        assert_eq!(of(&[1, 2, 3], &[2, 3]), [Pair::Missing(0), Pair::Same, Pair::Same]);
    }

    #[test]
    fn alike_elements_are_changes_and_unlike_ones_at_one_place_too() {
        assert_eq!(of(&[10, 20, 30], &[11, 30]), [Pair::Changed(0, 0), Pair::Missing(1), Pair::Same]);
        assert_eq!(of(&[1, 50, 3], &[1, 90, 3]), [Pair::Same, Pair::Changed(1, 1), Pair::Same]);
    }

    #[test]
    fn long_lists_align_within_a_window() {
        let a: Vec<i32> = (0..5000).collect();
        let mut b = a.clone();
        b.insert(2000, -1);
        b.remove(3000);
        b[100] = -7;
        let differences: Vec<Pair> = of(&a, &b).into_iter().filter(|pair| *pair != Pair::Same).collect();
        assert_eq!(differences, [Pair::Changed(100, 100), Pair::Extra(2000), Pair::Missing(2999)]);
    }
}
