//! Long predictions in short steps, so that they can be watched and stopped.

use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_data::table::Table;
use std::time::{Duration, Instant};

/// Rows of the first step.
const FIRST: usize = 64;
/// Rows of a step at least.
const LEAST: usize = 16;
/// Steps grow if they take less than this, and shrink if they take four times as long.
const SHORT: Duration = Duration::from_millis(50);

/// What `work` makes of the rows, a step at a time: lists of numbers with the same count for every row, in the order of
/// the rows. What it makes of a row must not depend on the others. Rows with the same cells missing are taken together,
/// because families prepare for each pattern of missing cells once.
pub(super) fn in_steps(
    rows: &Table,
    control: &Control,
    mut work: impl FnMut(&Table) -> Result<Vec<Vec<f64>>>,
) -> Result<Vec<Vec<f64>>> {
    let n = rows.n_rows();
    control.check()?;
    if n <= FIRST {
        return work(rows);
    }
    let order = by_pattern(rows);
    let mut lists: Vec<Vec<f64>> = Vec::new();
    let (mut done, mut size) = (0, FIRST);
    while done < n {
        control.progress("predicting", done, n)?;
        let (start, step) = (Instant::now(), &order[done..(done + size).min(n)]);
        let found = work(&rows.rows(step))?;
        if lists.is_empty() {
            lists = found.iter().map(|list| vec![0.0; list.len() / step.len() * n]).collect();
        }
        for (list, found) in lists.iter_mut().zip(&found) {
            let width = list.len() / n;
            for (&m, values) in step.iter().zip(found.chunks_exact(width)) {
                list[m * width..(m + 1) * width].copy_from_slice(values);
            }
        }
        done += step.len();
        size = match start.elapsed() {
            time if time < SHORT => 2 * size,
            time if time > 4 * SHORT => (size / 2).max(LEAST),
            _ => size,
        };
    }
    Ok(lists)
}

/// The rows, those with the same cells missing next to each other.
fn by_pattern(rows: &Table) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.n_rows()).collect();
    if rows.n_missing() > 0 {
        order.sort_by_cached_key(|&i| {
            let missing = |j: &usize| rows.column(*j).is_missing(i);
            (0..rows.n_columns()).filter(missing).map(|j| j as u32).collect::<Vec<u32>>()
        });
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::error::Error;
    use hingenet_data::table::Column;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn table(n: usize) -> Table {
        let cells = |skip: usize| (0..n).map(|m| if m % skip == 0 { f64::NAN } else { m as f64 }).collect();
        Table::new(vec![Column::numeric("a", cells(3)), Column::numeric("b", cells(2))]).unwrap()
    }

    #[test]
    fn results_stand_in_the_order_of_the_rows() {
        for n in [0, 1, 64, 65, 1000] {
            let rows = table(n);
            let cells = |part: &Table| {
                let column = |j: usize| part.column(j).as_numeric().unwrap().with_nan().to_vec();
                let pairs: Vec<f64> =
                    column(0).into_iter().zip(column(1)).flat_map(|(a, b)| [a, b]).collect();
                Ok(vec![pairs, column(0)])
            };
            let stepped = in_steps(&rows, &Control::default(), cells).unwrap();
            let bits = |lists: &[Vec<f64>]| lists.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&stepped), bits(&cells(&rows).unwrap()), "{n} rows");
        }
    }

    #[test]
    fn slow_work_stops_after_a_step() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut rows_done = 0;
        let stopped = in_steps(&table(10_000), &Control::new(stop.clone()), |part| {
            rows_done += part.n_rows();
            stop.store(true, Ordering::Relaxed);
            Ok(vec![vec![0.0; part.n_rows()]])
        });
        assert!(matches!(stopped, Err(Error::Interrupted)) && rows_done == FIRST, "{rows_done}");
    }
}
