//! What a density model read from a file must be before anything is looked up in its tables.

use crate::classifier::DensityClassifier;
use crate::columns::{Kind, Unit};
use crate::compile::{Axis, LineTable, PairTable};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::graph::{Edge, maximum_spanning_tree};
use hingenet_data::encode::is_moderate;
use hingenet_data::table::{FeatureKind, FeatureSpec, Schema};

impl DensityClassifier {
    /// Refuses units that are not those of the columns, and tables that do not fit together.
    pub fn check(&self, schema: &Schema) -> Result<()> {
        require_len("feature columns", schema.features.len(), self.units.units.len())?;
        let unit_fits = |(unit, spec): (&Unit, &FeatureSpec)| unit.fits(&spec.kind);
        let fits = self.units.units.iter().zip(&schema.features).all(unit_fits)
            && self.sizes_fit()
            && self.base.iter().all(|b| is_moderate(*b))
            && self.calibration.is_valid()
            && self.tables_fit()
            && (!self.variant.is_generative() || self.forests_fit());
        if fits { Ok(()) } else { Err(Error::model_file("the density tables do not fit together")) }
    }

    fn sizes_fit(&self) -> bool {
        let outputs = self.base.len();
        let declared = self.n_classes.saturating_add(self.absent.len());
        self.n_classes >= 2
            && self.absent.windows(2).all(|w| w[0] < w[1])
            && self.absent.iter().all(|c| *c < declared)
            && (outputs == self.n_classes || (outputs == 1 && self.n_classes == 2))
            && (!self.variant.is_generative() || outputs == self.n_classes)
            && self.lines.len() == self.units.used().len()
            && self.class_pairs.len() == self.n_classes
            && self.class_pairs.iter().flatten().all(|p| *p < self.pairs.len())
    }

    fn tables_fit(&self) -> bool {
        let (kinds, outputs) = (self.units.kinds(), self.base.len());
        let is_number = |f: usize| kinds[f] == Kind::Continuous;
        let axis_fits = |axis: &Axis, f: usize| match (axis, kinds[f]) {
            (Axis::Levels(n), Kind::Discrete(m)) => *n == m,
            (Axis::Pieces(_), Kind::Continuous) => true,
            _ => false,
        };
        let line_fits = |(f, t): (usize, &LineTable)| {
            axis_fits(&t.axis, f) && t.is_valid(self.n_classes, outputs) && (t.raw.is_none() || is_number(f))
        };
        let pair_fits = |t: &PairTable| {
            let (i, j) = t.pair;
            i < j
                && j < kinds.len()
                && axis_fits(&t.first, i)
                && axis_fits(&t.second, j)
                && !t.layers.is_empty()
                && t.is_valid(self.n_classes, outputs)
                && (t.raw.is_none() || (is_number(i) && is_number(j)))
        };
        self.lines.iter().enumerate().all(line_fits)
            && self.pairs.iter().all(pair_fits)
            && self.pairs.windows(2).all(|w| w[0].pair < w[1].pair)
    }

    /// Whether the pairs of every class are a forest and have a density of that class: missing features are summed out
    /// along it.
    fn forests_fit(&self) -> bool {
        self.class_pairs.iter().enumerate().all(|(class, own)| {
            let edges: Vec<Edge> = own
                .iter()
                .map(|&p| Edge { a: self.pairs[p].pair.0, b: self.pairs[p].pair.1, weight: 0.0 })
                .collect();
            own.iter().all(|&p| self.pairs[p].layers.iter().any(|layer| layer.class == class))
                && maximum_spanning_tree(self.lines.len(), edges).len() == own.len()
        })
    }
}

impl Unit {
    /// Whether a column of this type can have this unit.
    pub(crate) fn fits(&self, kind: &FeatureKind) -> bool {
        match (self, kind) {
            (Unit::Dropped, _) => true,
            (Unit::Standard(standard), FeatureKind::Numeric) => {
                standard.is_possible() && !standard.is_constant()
            }
            (Unit::Levels(values), FeatureKind::Numeric) => {
                !values.is_empty()
                    && values.iter().all(|v| v.is_finite())
                    && values.windows(2).all(|w| w[0] < w[1])
            }
            (Unit::Categories(n), FeatureKind::Categorical { categories }) => *n == categories.len(),
            _ => false,
        }
    }
}
