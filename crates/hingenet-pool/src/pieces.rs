//! Terms A and G of rows that come in pieces. The kernel terms P and K are made of rows, and so are the weights of the
//! terms: a pool of many rows has them from a sample. Terms A and G are made of counts and moments, which are gathered
//! from all rows, in whole numbers, so that it does not matter how the rows come.

use super::classifier::PoolClassifier;
use super::fit::gaussian_of;
use super::points::moments::{ClassMoments, SumLayout};
use super::points::{Encoding, Scale, types_fit};
use super::rows::FeatureType;
use super::terms::TermModel;
use super::terms::averaged::{Averaged, MOST_PAIRS, States};
use super::terms::gaussian::Gaussian;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::exact::ExactSums;
use hingenet_data::pieces::{Cells, ColumnScan, TableScan, whole_weights};
use hingenet_data::rows::Dataset;
use hingenet_data::table::{Codes, Schema};
use hingenet_discrete::averaged::{Counts, Numbering};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::Arc;

/// What is to be gathered from every piece.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolTask {
    /// Codes of the classes that have rows, ascending.
    present: Vec<usize>,
    /// States of term A.
    states: Vec<States>,
    /// Encoding of term G, if it is made of moments.
    scales: Option<Vec<Scale>>,
    /// Whether some cell is missing.
    has_gaps: bool,
}

/// What some pieces gave.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolSums {
    /// `n_c`, `N_c(a)` and `N_c(a, b)` of term A.
    pub counts: Counts,
    /// Sums of each class for term G; empty if it is not made of moments.
    pub classes: Vec<ExactSums>,
}

impl PoolTask {
    /// States from all values of the columns, and the encoding that term G of the pool of a sample has.
    pub fn new(pool: &PoolClassifier, scan: &TableScan) -> Self {
        let states = |column: &ColumnScan| match &column.cells {
            Cells::Numbers(values) => States::Cuts(values.cuts()),
            Cells::Categories { names, .. } => States::Levels(names.len()),
            Cells::Missing | Cells::Mixed => States::Cuts(Vec::new()),
        };
        PoolTask {
            present: pool.present.clone(),
            states: scan.columns.iter().map(states).collect(),
            scales: gaussian_of(&pool.terms.others).map(|g| g.encoding.scales.clone()),
            has_gaps: scan.has_gaps(),
        }
    }

    /// Refuses what belongs to no pool of these columns and classes (for what is read from a file).
    pub fn check(&self, schema: &Schema, n_classes: usize) -> Result<()> {
        let kind =
            |names: Option<&[String]>| names.map_or(FeatureType::Number, |n| FeatureType::Levels(n.len()));
        let types: Vec<FeatureType> = schema.features.iter().map(|f| kind(f.kind.categories())).collect();
        let fits = |(kind, states): (&FeatureType, &States)| states.fit(*kind);
        let is_ascending = self.present.windows(2).all(|w| w[0] < w[1]);
        let possible = is_ascending
            && self.present.iter().all(|c| *c < n_classes)
            && types.len() == self.states.len()
            && types.iter().zip(&self.states).all(fits)
            && self.scales.as_ref().is_none_or(|scales| types_fit(&types, scales, false));
        if possible { Ok(()) } else { Err(Error::model_file("the task does not fit the columns")) }
    }

    /// Gathers from a piece that has all columns, categories and classes.
    pub fn gather(&self, piece: &Dataset) -> Result<PoolSums> {
        let weights = whole_weights(piece)?;
        let kept: Vec<usize> = (0..piece.n_rows()).filter(|&m| weights[m] > 0).collect();
        if kept.is_empty() {
            return Ok(self.nothing());
        }
        let features = piece.features.rows(&kept);
        let weights: Vec<u64> = kept.iter().map(|&m| weights[m]).collect();
        let place = |&m: &usize| {
            let code = piece.class.get(m).and_then(|c| self.present.binary_search(&c).ok());
            code.ok_or_else(|| {
                Error::row(m, "its class has no rows in the sample", "fit to all pieces again")
            })
        };
        let class = kept.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let k = self.present.len();
        let classes = match self.layout() {
            Some(layout) => layout.sums(&features, &class, k, &weights)?,
            None => Vec::new(),
        };
        let codes = Codes::from_options(k, class.into_iter().map(Some));
        let real = weights.iter().map(|w| *w as f64).collect();
        Ok(PoolSums { counts: Averaged::count(&self.states, (k, codes), &features, real)?, classes })
    }

    fn layout(&self) -> Option<SumLayout> {
        let scales = self.scales.clone()?;
        Some(SumLayout { encoding: Encoding::from_scales(scales), has_gaps: self.has_gaps })
    }

    fn nothing(&self) -> PoolSums {
        let (k, states) = (self.present.len(), Numbering::new(self.states.iter().map(States::count)));
        let columns = self.layout().map(|layout| layout.n_columns());
        PoolSums {
            counts: Counts::empty(states, k, MOST_PAIRS),
            classes: columns.map_or(Vec::new(), |m| vec![ExactSums::empty(m); k]),
        }
    }
}

impl PoolSums {
    /// Adds those of other pieces.
    pub fn merge(&mut self, other: &PoolSums) -> Result<()> {
        self.counts.merge(&other.counts)?;
        require_len("classes of a piece", self.classes.len(), other.classes.len())?;
        self.classes.iter_mut().zip(&other.classes).try_for_each(|(a, b)| a.merge(b))
    }

    /// Memory, about.
    pub fn bytes(&self) -> usize {
        let counts = &self.counts;
        8 * (counts.class.len() + counts.value.len() + counts.pair.len())
            + self.classes.iter().map(ExactSums::bytes).sum::<usize>()
    }
}

impl PoolClassifier {
    /// Whether terms are made of counts or moments, and so can be those of all rows.
    pub fn has_terms_of_sums(&self) -> bool {
        self.is_own_average() || gaussian_of(&self.terms.others).is_some()
    }

    fn is_own_average(&self) -> bool {
        let model = self.terms.others[0].as_deref();
        model.is_some_and(|model| (model as &dyn Any).is::<Averaged>())
    }

    /// The same pool with terms A and G of all rows; other models in their place stay.
    pub fn with_sums(mut self, task: &PoolTask, sums: &PoolSums) -> Result<Self> {
        // what was gathered may come from a file
        let mut checked = task.nothing();
        checked.merge(sums)?;
        let averaged = Arc::new(Averaged::from_counts(task.states.clone(), checked.counts));
        self.facts.information = averaged.information();
        let is_own_average = self.is_own_average();
        let terms = Arc::make_mut(&mut self.terms);
        if is_own_average {
            terms.others[0] = Some(averaged.clone());
        }
        terms.averaged = averaged;
        if let (Some(layout), Some(choice)) = (task.layout(), gaussian_of(&terms.others).map(|g| g.choice)) {
            let moments = ClassMoments::from_sums(&layout, &sums.classes)?;
            let gaussian = Gaussian::shrunk(layout.encoding, &moments, choice)?;
            terms.others[1] = Some(Arc::new(gaussian) as Arc<dyn TermModel>);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::PoolParams;
    use crate::points::moments::Sample;
    use crate::rows::Labelled;
    use hingenet_base::control::Control;
    use hingenet_base::numeric::random::Random;
    use hingenet_data::rows::Rows;
    use hingenet_data::table::{Column, Table};

    /// Numbers and a category that lean on the class; the weights are 1 to 3.
    fn data(n: usize, has_gaps: bool) -> Dataset {
        let mut random = Random::new(11);
        let class: Vec<usize> = (0..n).map(|_| random.below(3)).collect();
        let gap = |x: f64, random: &mut Random| if has_gaps && random.below(5) == 0 { f64::NAN } else { x };
        let x: Vec<f64> = class.iter().map(|c| *c as f64 + random.normal()).collect();
        let y: Vec<f64> = x.iter().map(|x| 1e4 + 3.0 * (x + random.normal())).collect();
        let level = |c: &usize, random: &mut Random| {
            (!has_gaps || random.below(7) > 0).then(|| (c + random.below(2)) % 3)
        };
        let levels: Vec<Option<usize>> = class.iter().map(|c| level(c, &mut random)).collect();
        let names = |names: [&str; 3]| names.map(String::from).to_vec();
        let features = Table::new(vec![
            Column::numeric("x", x.iter().map(|x| gap(*x, &mut random)).collect()),
            Column::numeric("y", y.iter().map(|y| gap(*y, &mut random)).collect()),
            Column::categorical("l", names(["p", "q", "r"]), Codes::from_options(3, levels.into_iter())),
        ]);
        let weights = (0..n).map(|m| (m % 3 + 1) as f64).collect();
        let class = Codes::from_options(3, class.into_iter().map(Some));
        Dataset::from_parts("class", features.unwrap(), names(["a", "b", "c"]), class, Some(weights)).unwrap()
    }

    /// Terms A and G of a pool of some rows become those of all rows: the counts exactly, the moments as the steps allow.
    #[test]
    fn terms_of_all_rows_come_from_pieces() {
        for has_gaps in [false, true] {
            let all = data(300, has_gaps);
            let part = all.rows(&(0..90).collect::<Vec<_>>());
            let params = PoolParams { fast: true, ..PoolParams::default() };
            let control = Control::default();
            let pool = crate::fit(&Rows::of(&part).unwrap(), &params, [None, None], &control).unwrap();
            assert!(pool.has_terms_of_sums());
            let task = PoolTask::new(&pool, &TableScan::of(&all).unwrap());
            task.check(&Schema::of(&all.features), 3).unwrap();
            let mut sums = task.gather(&all.rows(&(170..300).rev().collect::<Vec<_>>())).unwrap();
            sums.merge(&task.gather(&all.rows(&[])).unwrap()).unwrap();
            sums.merge(&task.gather(&all.rows(&(0..170).collect::<Vec<_>>())).unwrap()).unwrap();
            assert_eq!(sums, task.gather(&all).unwrap());
            let pool = pool.with_sums(&task, &sums).unwrap();

            let rows = Labelled::new(&Rows::of(&all).unwrap()).unwrap();
            assert_eq!(*pool.terms.averaged, Averaged::fit(&rows, &control).unwrap());
            let found = gaussian_of(&pool.terms.others).unwrap();
            let encoded = found.encoding.encode(&rows.features);
            let moments =
                Sample { encoding: &found.encoding, encoded: &encoded, rows: &rows }.class_moments();
            let wanted = Gaussian::shrunk(found.encoding.clone(), &moments.unwrap(), found.choice).unwrap();
            let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(close(found.means.data(), wanted.means.data()));
            for (a, b) in found.covariances.iter().zip(&wanted.covariances) {
                assert!(close(a.data(), b.data()), "{a:?} {b:?}");
            }
            assert_eq!(found.log_prior, wanted.log_prior);
        }
    }

    #[test]
    fn sums_of_another_task_are_refused() {
        let all = data(120, false);
        let params = PoolParams { fast: true, ..PoolParams::default() };
        let pool = crate::fit(&Rows::of(&all).unwrap(), &params, [None, None], &Control::default()).unwrap();
        let task = PoolTask::new(&pool, &TableScan::of(&all).unwrap());
        let mut sums = task.gather(&all).unwrap();
        sums.classes[0].products[0] = i128::MIN;
        assert!(pool.clone().with_sums(&task, &sums).is_err());
        let mut sums = task.gather(&all).unwrap();
        sums.counts.value.pop();
        assert!(pool.clone().with_sums(&task, &sums).is_err());
        let wide = PoolTask { has_gaps: true, ..task.clone() };
        assert!(pool.with_sums(&wide, &task.gather(&all).unwrap()).is_err());
        let other = PoolTask { states: vec![States::Levels(2); 3], ..task };
        assert!(other.check(&Schema::of(&all.features), 3).is_err());
    }
}
