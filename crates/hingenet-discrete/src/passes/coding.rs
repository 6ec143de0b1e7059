//! How the pieces of a table are coded: learnt from a scan of its columns, the same for every piece.

use super::{Counted, Pass};
use crate::Samples;
use crate::fit::naming_rows;
use crate::samples::code_columns;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_data::encode::FeatureCoder;
use hingenet_data::pieces::{Cells, CodedPiece, ColumnScan, TableScan, whole_weights};
use hingenet_data::rows::Dataset;
use hingenet_data::table::{FeatureKind, FeatureSpec, Schema};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How pieces are coded: states of the features, number of classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coding {
    /// The states of each feature.
    pub coders: Vec<FeatureCoder>,
    /// Number of classes K.
    pub n_classes: usize,
}

impl Coding {
    /// Learns the states of the features.
    pub fn learn(scan: &TableScan, control: &Control) -> Result<Self> {
        let coder = |column: &ColumnScan| match &column.cells {
            Cells::Categories { .. } if column.names_rows() => Ok(naming_rows(&column.name, control)),
            Cells::Categories { names, .. } => Ok(FeatureCoder::Categories { names: names.clone() }),
            Cells::Numbers(values) => FeatureCoder::from_cuts(&column.name, values.cuts()),
            Cells::Missing | Cells::Mixed => FeatureCoder::from_cuts(&column.name, Vec::new()),
        };
        let coders = scan.columns.par_iter().map(coder).collect::<Result<_>>()?;
        Ok(Coding { coders, n_classes: scan.classes.len() })
    }

    /// Refuses what no training on these columns can have made (for what is read from a file).
    pub fn check(&self, schema: &Schema) -> Result<()> {
        require_len("coded features", schema.features.len(), self.coders.len())?;
        self.coders.iter().try_for_each(FeatureCoder::check)?;
        let fits = |(coder, feature): (&FeatureCoder, &FeatureSpec)| match (coder, &feature.kind) {
            (FeatureCoder::Cuts { .. }, FeatureKind::Numeric) => true,
            // a column that takes no part has no names
            (FeatureCoder::Categories { names }, FeatureKind::Categorical { categories }) => {
                names.is_empty() || names == categories
            }
            _ => false,
        };
        match self.coders.iter().zip(&schema.features).all(fits) {
            true => Ok(()),
            false => Err(Error::model_file("the states are not those of the columns")),
        }
    }

    pub(super) fn card(&self) -> Vec<usize> {
        std::iter::once(self.n_classes).chain(self.coders.iter().map(FeatureCoder::n_states)).collect()
    }

    /// Coded rows of a piece that has the classes and columns of the whole; `None` if no row counts.
    fn code(&self, piece: &Dataset) -> Result<Option<Samples>> {
        let weights = whole_weights(piece)?;
        let kept: Vec<usize> = (0..piece.n_rows()).filter(|&m| weights[m] > 0).collect();
        if kept.is_empty() {
            return Ok(None);
        }
        if kept.len() < piece.n_rows() {
            return self.code(&piece.rows(&kept));
        }
        let mut columns = vec![piece.class.clone()];
        columns.extend(code_columns(&self.coders, &piece.features)?);
        let weights = piece.weights.clone();
        Samples::new(self.card(), columns, weights).map(Some)
    }

    /// Counts a piece.
    pub fn count(&self, pass: &Pass, piece: &Dataset, control: &Control) -> Result<Counted> {
        let mut counted = Counted::default();
        if let Some(samples) = self.code(piece)? {
            counted.add(pass, &samples, control)?;
            counted.require_exact()?;
        }
        Ok(counted)
    }

    /// Adds a piece whose rows are coded already to the counts of others. Once all are added, [`Counted::require_exact`] says
    /// whether they were too many.
    pub fn count_kept(
        &self,
        pass: &Pass,
        (columns, weights): CodedPiece,
        all: &mut Counted,
        control: &Control,
    ) -> Result<()> {
        all.add(pass, &Samples::new(self.card(), columns, weights)?, control)
    }
}
