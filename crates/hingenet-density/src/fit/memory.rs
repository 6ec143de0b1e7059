//! What a fit holds at one time, asked for before it is taken. Counted is what grows with rows times pairs; the smaller
//! rest is less than what the counts leave out.

use crate::columns::Columns;
use crate::estimate::{Joint, Marginal};
use crate::params::Params;
use crate::structure::Kept;
use hingenet_base::control::Control;
use hingenet_base::error::Result;

/// What to do where a fit would take too much.
pub(crate) const LESS: &str = "give fewer rows or columns, keep fewer pairs (slb with `fraction`, lu or kde-nb), or allow \
    more (`--max-memory`)";

/// Bytes of a row in the density of a pair: two coordinates, its weight and its number, whose list may be half empty.
const ROW_OF_PAIR: f64 = 40.0;
/// Bytes of a row in the density of one feature.
const ROW_OF_FEATURE: f64 = 32.0;
/// Bytes of a list of numbers beside them: its place, its weights in the scores and its column of the design.
const LIST: f64 = 256.0;
/// Bytes of a pair of features while pairs are chosen: criterion and test of each class, and what is sorted.
const CHOICE: f64 = 32.0;
/// Bytes of a pair of features in the list of a threshold, for each class; the lists grow by doubling.
const LISTED: f64 = 32.0;
/// Bytes of a pair of features in the matrix of criteria, once for all classes.
const CRITERION: f64 = 40.0;
/// Largest order of the dense systems of a machine; larger ones need no matrices.
const LARGEST_SYSTEM: usize = 3000;

/// Asks for the memory of comparing all pairs of features and of listing those that so many thresholds keep.
pub(crate) fn reserve_pairs(columns: &Columns, thresholds: usize, control: &Control) -> Result<()> {
    let (d, k) = (columns.n_features() as f64, columns.n_classes as f64);
    let pairs = 0.5 * d * (d - 1.0);
    // thresholds from sparse to dense keep a third of the pairs each, about; their union is made of all
    let lists = if thresholds > 1 { 2.0 * thresholds as f64 / 3.0 } else { 1.0 };
    let bytes = pairs * (CRITERION + k * (CHOICE + LISTED * lists));
    control.reserve(bytes, format!("comparing {pairs} pairs of features"), LESS)
}

/// Asks for the memory of densities, of the features of all rows and of the machines on them.
pub(crate) fn reserve(columns: &Columns, kept: &Kept, params: &Params, control: &Control) -> Result<()> {
    let bytes = of_densities(columns, kept) + of_features(columns, kept) + of_machines(columns, kept, params);
    let what = format!("learning from {} rows with the densities of {} pairs", columns.n_rows(), kept.len());
    control.reserve(bytes, what, LESS)
}

/// Densities with the rows behind them.
fn of_densities(columns: &Columns, kept: &Kept) -> f64 {
    let (n, d) = (columns.n_rows() as f64, columns.n_features() as f64);
    let alone = d * (ROW_OF_FEATURE * n + (columns.n_classes * size_of::<Marginal>()) as f64);
    let of_class = |(y, pairs): (usize, &Vec<(usize, usize)>)| {
        pairs.len() as f64 * (ROW_OF_PAIR * columns.rows_of(y).len() as f64 + size_of::<Joint>() as f64)
    };
    alone + kept.of_class.iter().enumerate().map(of_class).sum::<f64>()
}

/// Lists of the log densities of all rows: one for each density.
fn n_lists(columns: &Columns, kept: &Kept) -> f64 {
    (columns.n_classes * columns.n_features() + kept.len()) as f64
}

fn of_features(columns: &Columns, kept: &Kept) -> f64 {
    n_lists(columns, kept) * (8.0 * columns.n_rows() as f64 + LIST)
}

/// Designs and systems of the machines that are trained at one time: those of the rules of class weights side by side, and
/// in them those of the classes.
fn of_machines(columns: &Columns, kept: &Kept, params: &Params) -> f64 {
    if params.variant.is_generative() {
        return 0.0;
    }
    let (n, p) = (columns.n_rows() as f64, n_lists(columns, kept));
    let threads = rayon::current_num_threads();
    let outputs = if columns.n_classes == 2 { 1 } else { columns.n_classes };
    let (designs, systems) = (threads.min(2) as f64, threads.min(2 * outputs) as f64);
    let order = n.min(p);
    // a copy of the design, or the products of its rows, with the matrix of a step and its factor
    let system = if order > LARGEST_SYSTEM as f64 { 0.0 } else { 8.0 * (n * order + 2.0 * order * order) };
    designs * 8.0 * n * p + systems * system
}
