//! First and second moments of each class as whole numbers, gathered piece by piece: their sums depend neither on the
//! order of the rows nor on how they come in pieces, so that the networks do not.
//!
//! A node is placed on a grid over the range of its column, `u = round(2^46 (x − middle) / half)`, which is as fine for
//! most columns as the numbers themselves. With K the whole number nearest to the mean of u, and r what is left of its
//! sum, `Σ (u_i − K_i)(u_j − K_j)` is exact, and `r_i r_j / n` is small beside it: nothing cancels.

use crate::features::{FeatureMap, Node, node_places};
use crate::moments::Moments;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::exact::{ExactSums, LARGEST, MOST_ROWS};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::table::{ColumnData, FeatureKind, Schema, Table};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Steps of the grid from the middle of a range to its end.
const STEPS: f64 = (1u64 << 46) as f64;

/// Where the nodes of a table lie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeGrids {
    nodes: Vec<NodeGrid>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeGrid {
    column: usize,
    category: Option<usize>,
    middle: f64,
    half: f64,
}

impl NodeGrid {
    fn place(&self, x: f64) -> i64 {
        if self.half > 0.0 { ((x - self.middle) / self.half * STEPS).round() as i64 } else { 0 }
    }
}

impl NodeGrids {
    /// The nodes of columns, whose numbers have these ranges.
    pub fn new(schema: &Schema, ranges: &BTreeMap<String, [f64; 2]>) -> Self {
        let n_categories = |kind: &FeatureKind| kind.categories().map(<[String]>::len);
        let node = |(column, category): (usize, Option<usize>)| {
            let (middle, half) = match (category, ranges.get(&schema.features[column].name)) {
                (Some(_), _) => (0.0, STEPS), // 0 and 1 as they are
                (None, Some([low, high])) => (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0),
                (None, None) => (0.0, 0.0),
            };
            NodeGrid { column, category, middle, half }
        };
        let places = node_places(schema.features.iter().map(|f| n_categories(&f.kind)));
        NodeGrids { nodes: places.into_iter().map(node).collect() }
    }

    /// Refuses what no ranges can have made (for what is read from a file).
    pub fn check(&self, schema: &Schema) -> Result<()> {
        let places = node_places(schema.features.iter().map(|f| f.kind.categories().map(<[String]>::len)));
        let found = self.nodes.iter().map(|n| (n.column, n.category));
        let is_possible = |n: &NodeGrid| n.middle.is_finite() && n.half.is_finite() && n.half >= 0.0;
        if found.eq(places) && self.nodes.iter().all(is_possible) {
            Ok(())
        } else {
            Err(Error::model_file("the nodes are not those of the columns"))
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Nodes that stand for a category, whose sums are numbers of rows: column and category of each, in order.
    pub fn categories(&self) -> impl Iterator<Item = (usize, (usize, usize))> + '_ {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(j, node)| node.category.map(|category| (j, (node.column, category))))
    }

    /// The steps of each node; no cell may be missing.
    fn placed(&self, table: &Table) -> Result<Vec<Vec<i64>>> {
        let node = |grid: &NodeGrid| {
            let column = table.column(grid.column);
            let missing =
                || Error::column(column.name(), "a cell is missing", "learn from the rows themselves");
            match (column.data(), grid.category) {
                (ColumnData::Numeric(n), None) => {
                    let far = || {
                        Error::column(
                            column.name(),
                            "a number is far outside the range of the first fit",
                            "fit to all rows at once",
                        )
                    };
                    let place =
                        |x: f64| Some(grid.place(x)).filter(|u| u.unsigned_abs() <= LARGEST).ok_or_else(far);
                    n.iter().map(|x| place(x.ok_or_else(missing)?)).collect()
                }
                (ColumnData::Categorical(c), Some(k)) => c
                    .codes()
                    .iter()
                    .map(|code| code.map(|code| i64::from(code == k)).ok_or_else(missing))
                    .collect(),
                _ => {
                    Err(Error::column(column.name(), "is of another type", "give all pieces the same types"))
                }
            }
        };
        self.nodes.par_iter().map(node).collect()
    }
}

/// Sums of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactMoments {
    /// Those of each class.
    pub classes: Vec<ExactSums>,
}

impl ExactMoments {
    /// Sums of rows with their classes and weights.
    pub fn of(
        grids: &NodeGrids,
        table: &Table,
        class: &[usize],
        weights: &[u64],
        n_classes: usize,
    ) -> Result<Self> {
        require_len("class labels", table.n_rows(), class.len())?;
        let nodes = grids.placed(table)?;
        let sums = |c: usize| {
            let rows: Vec<usize> = (0..class.len()).filter(|&m| class[m] == c && weights[m] > 0).collect();
            let weights: Vec<u64> = rows.iter().map(|&m| weights[m]).collect();
            let nodes: Vec<Vec<i64>> =
                nodes.par_iter().map(|node| rows.iter().map(|&m| node[m]).collect()).collect();
            ExactSums::of(&nodes, &weights)
        };
        Ok(ExactMoments { classes: (0..n_classes).map(sums).collect::<Result<_>>()? })
    }

    /// Adds the sums of other rows.
    pub fn merge(&mut self, other: &ExactMoments) -> Result<()> {
        require_len("classes of a piece", self.classes.len(), other.classes.len())?;
        self.classes.iter_mut().zip(&other.classes).try_for_each(|(a, b)| a.merge(b))
    }

    /// Memory, about.
    pub fn bytes(&self) -> usize {
        self.classes.iter().map(ExactSums::bytes).sum()
    }

    /// The columns as nodes, standardised over all rows, and the moments of each class in these units with its total
    /// weight.
    pub(crate) fn finish(&self, grids: &NodeGrids, schema: &Schema) -> Result<(FeatureMap, Vec<Moments>)> {
        let m = grids.len();
        let rows = self.classes.iter().try_fold(0u64, |n, c| n.checked_add(c.rows)).unwrap_or(u64::MAX);
        if !self.classes.iter().all(|c| c.is_possible(m)) || rows > MOST_ROWS {
            return Err(Error::model_file(
                "the moments of the classes are damaged, or of more than 2^31 rows",
            ));
        }
        let mut all = ExactSums::empty(m);
        self.classes.iter().try_for_each(|c| all.merge(c))?;
        let centre = Centre::of(&all);
        let deviation: Vec<f64> = (0..m).map(|j| centre.deviation(&all, j)).collect();
        let node = |(j, grid): (usize, &NodeGrid)| Node {
            column: grid.column,
            category: grid.category,
            mean: grid.middle + grid.half * (centre.mean(j) / STEPS),
            scale: (grid.half * (deviation[j] / STEPS)).min(f64::MAX),
        };
        let features = FeatureMap::new(grids.nodes.iter().enumerate().map(node).collect(), schema);
        let moments = |sums: &ExactSums| moments_of(sums, &centre, &deviation);
        Ok((features, self.classes.iter().map(moments).collect::<Result<_>>()?))
    }
}

/// The moments of a class in units of the deviations of all rows, from their mean.
fn moments_of(class: &ExactSums, all: &Centre, deviation: &[f64]) -> Result<Moments> {
    let own = Centre::of(class);
    let m = class.sums.len();
    let scaled = |x: f64, j: usize| if deviation[j] > 0.0 { x / deviation[j] } else { 0.0 };
    let mean = (0..m).map(|j| match class.rows {
        0 => 0.0,
        _ => scaled((own.whole[j] - all.whole[j]) as f64 + own.rest[j] - all.rest[j], j),
    });
    let gram = Matrix::from_fn(m, m, |i, j| {
        scaled(scaled(own.product(class, i.max(j), i.min(j)), i.max(j)), i.min(j))
    });
    Moments::given(class.rows as f64, mean.collect(), gram)
}

/// The mean of each node, as a whole number and what is left.
struct Centre {
    rows: f64,
    whole: Vec<i128>,
    rest: Vec<f64>,
}

impl Centre {
    fn of(sums: &ExactSums) -> Self {
        let n = i128::from(sums.rows.max(1));
        let whole: Vec<i128> = sums.sums.iter().map(|s| (s + s.signum() * (n / 2)) / n).collect();
        let rest = sums.sums.iter().zip(&whole).map(|(s, k)| (s - n * k) as f64 / n as f64).collect();
        Centre { rows: n as f64, whole, rest }
    }

    fn mean(&self, j: usize) -> f64 {
        self.whole[j] as f64 + self.rest[j]
    }

    /// `Σ (u_i − mean_i)(u_j − mean_j)`.
    fn product(&self, sums: &ExactSums, i: usize, j: usize) -> f64 {
        let (k_i, k_j) = (self.whole[i], self.whole[j]);
        let n = i128::from(sums.rows);
        // in this order no part is larger than the products themselves can be
        let about = sums.product(i, j) - k_i * sums.sums[j] - k_j * (sums.sums[i] - n * k_i);
        about as f64 - self.rows * self.rest[i] * self.rest[j]
    }

    /// Deviation with divisor n − 1; exactly 0 when all values are equal.
    fn deviation(&self, sums: &ExactSums, j: usize) -> f64 {
        let squares = self.product(sums, j, j).max(0.0);
        if sums.rows > 1 { (squares / (sums.rows - 1) as f64).sqrt() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;
    use hingenet_data::table::{Codes, Column};

    fn table(n: usize) -> (Table, Vec<usize>) {
        let mut random = Random::new(3);
        let class: Vec<usize> = (0..n).map(|_| random.below(2)).collect();
        let x: Vec<f64> = class.iter().map(|c| 1e6 + *c as f64 + random.normal()).collect();
        let y: Vec<f64> = x.iter().map(|x| 1e-3 * (x - 1e6) + 1e-4 * random.normal()).collect();
        let c = Codes::from_options(3, (0..n).map(|_| Some(random.below(3))));
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let columns = vec![
            Column::numeric("x", x),
            Column::numeric("y", y),
            Column::categorical("k", names, c),
            Column::numeric("still", vec![0.1; n]),
        ];
        (Table::new(columns).unwrap(), class)
    }

    fn grids(table: &Table) -> NodeGrids {
        let range = |c: &Column| {
            let values = c.as_numeric()?.with_nan();
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            Some((c.name().to_string(), [low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]))
        };
        NodeGrids::new(&Schema::of(table), &table.columns().iter().filter_map(range).collect())
    }

    /// The moments are those of the standardised rows, to the precision of the grid.
    #[test]
    fn moments_agree_with_those_of_the_rows() {
        let (table, class) = table(500);
        let grids = grids(&table);
        let weights: Vec<u64> = (0..500).map(|m| m % 3).collect();
        for weights in [vec![1; 500], weights] {
            let exact = ExactMoments::of(&grids, &table, &class, &weights, 3).unwrap();
            let (features, moments) = exact.finish(&grids, &Schema::of(&table)).unwrap();
            let real: Vec<f64> = weights.iter().map(|w| *w as f64).collect();
            let learnt = FeatureMap::learn(&table, Some(&real)).unwrap();
            for (a, b) in features.nodes().iter().zip(learnt.nodes()) {
                assert!((a.mean - b.mean).abs() <= 1e-12 * b.mean.abs().max(b.scale), "{a:?} {b:?}");
                assert!((a.scale - b.scale).abs() <= 1e-11 * b.scale, "{a:?} {b:?}");
            }
            let x = learnt.encode(&table).unwrap();
            for c in 0..2 {
                let own: Vec<usize> = (0..500).filter(|&m| class[m] == c).collect();
                let own_weights: Vec<f64> = own.iter().map(|&m| real[m]).collect();
                let want = Moments::of_rows(&x.select_rows(&own), Some(&own_weights)).unwrap();
                assert_eq!(moments[c].rows, want.rows);
                let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * want.rows;
                assert!(moments[c].mean.iter().zip(&want.mean).all(|(a, b)| close(*a, *b)));
                assert!(moments[c].gram.data().iter().zip(want.gram.data()).all(|(a, b)| close(*a, *b)));
            }
            assert_eq!((moments[2].rows, moments[2].mean[0]), (0.0, 0.0));
        }
    }

    #[test]
    fn pieces_in_any_order_give_the_same_bits() {
        let (table, class) = table(300);
        let grids = grids(&table);
        let of = |rows: &[usize]| {
            let class: Vec<usize> = rows.iter().map(|&m| class[m]).collect();
            ExactMoments::of(&grids, &table.rows(rows), &class, &vec![1; rows.len()], 2).unwrap()
        };
        let whole = of(&(0..300).collect::<Vec<_>>());
        let mut merged = of(&(200..300).rev().collect::<Vec<_>>());
        merged.merge(&of(&[])).unwrap();
        merged.merge(&of(&(0..200).collect::<Vec<_>>())).unwrap();
        assert_eq!(merged, whole);
    }

    #[test]
    fn sums_that_no_rows_have_are_refused() {
        let (table, class) = table(40);
        let grids = grids(&table);
        let schema = Schema::of(&table);
        let good = ExactMoments::of(&grids, &table, &class, &[1; 40], 2).unwrap();
        assert!(good.finish(&grids, &schema).is_ok());
        let mut huge = good.clone();
        huge.classes[0].products[0] = i128::MIN;
        assert!(huge.finish(&grids, &schema).is_err());
        let mut many = good.clone();
        many.classes[1].rows = u64::MAX;
        assert!(many.finish(&grids, &schema).is_err());
        let mut short = good;
        short.classes[0].sums.pop();
        assert!(short.finish(&grids, &schema).is_err());
    }
}
