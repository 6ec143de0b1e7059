//! Discretisation as theorems: what the cuts must not depend on, and what a second run must find.

use hingenet_data::encode::{FeatureCoder, mdl};
use hingenet_data::table::{Codes, Column};
use proptest::prelude::*;

fn class(codes: &[usize]) -> Codes {
    Codes::from_options(3, codes.iter().copied().map(Some))
}

fn states(cuts: Vec<f64>, x: &[f64]) -> Vec<Option<usize>> {
    let coder = FeatureCoder::Cuts { cuts };
    coder.code_column(&Column::numeric("x", x.to_vec())).unwrap().iter().collect()
}

/// Rows whose class depends on a coarse value, with noise, so that cuts are found.
fn rows() -> impl Strategy<Value = Vec<(i32, usize)>> {
    let row = (0..60i32, 0..3usize, 0..10u8);
    prop::collection::vec(
        row.prop_map(|(x, c, noise)| (x, if noise < 7 { x as usize / 20 } else { c })),
        2..120,
    )
}

proptest! {
    /// A strictly increasing map of the values changes no code (P14).
    #[test]
    fn increasing_maps_keep_every_code(rows in rows()) {
        let c = class(&rows.iter().map(|r| r.1).collect::<Vec<_>>());
        let x: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
        let mapped: Vec<f64> = x.iter().map(|x| (x / 10.0).exp() - 1e3).collect();
        let before = states(mdl::cuts(&x, &c, 3, None).unwrap(), &x);
        prop_assert_eq!(before, states(mdl::cuts(&mapped, &c, 3, None).unwrap(), &mapped));
    }

    /// Fitting the codes finds no boundary but those that made them (P14).
    #[test]
    fn codes_have_no_cuts_of_their_own(rows in rows()) {
        let c = class(&rows.iter().map(|r| r.1).collect::<Vec<_>>());
        let x: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
        let cuts = mdl::cuts(&x, &c, 3, None).unwrap();
        let codes: Vec<f64> = states(cuts.clone(), &x).iter().map(|s| s.unwrap() as f64).collect();
        let again = mdl::cuts(&codes, &c, 3, None).unwrap();
        prop_assert!(again.len() <= cuts.len());
        prop_assert!(again.iter().all(|cut| cut.fract() == 0.5), "{:?}", again);
    }

    /// Weights equal repetition; rows without weight, class or value do not count; row order never matters.
    #[test]
    fn weights_equal_repetition(rows in rows(), weights in prop::collection::vec(0..4u8, 120)) {
        let mut repeated = Vec::new();
        for (row, &weight) in rows.iter().zip(&weights) {
            repeated.extend(std::iter::repeat_n(*row, weight as usize));
        }
        let x: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).chain([f64::NAN, 7.0]).collect();
        let c = Codes::from_options(3, rows.iter().map(|r| Some(r.1)).chain([Some(0), None]));
        let s: Vec<f64> = weights[..rows.len()].iter().map(|w| f64::from(*w)).chain([1.0, 1.0]).collect();
        let weighted = mdl::cuts(&x, &c, 3, Some(&s)).unwrap();
        repeated.reverse();
        let xr: Vec<f64> = repeated.iter().map(|r| f64::from(r.0)).collect();
        let cr = class(&repeated.iter().map(|r| r.1).collect::<Vec<_>>());
        // zero-weight values may lie between two others: compare codes of the rows that count
        let plain = mdl::cuts(&xr, &cr, 3, None).unwrap();
        prop_assert_eq!(weighted, plain);
    }

    /// Exchanging class labels changes nothing.
    #[test]
    fn class_labels_do_not_matter(rows in rows()) {
        let x: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
        let c = class(&rows.iter().map(|r| r.1).collect::<Vec<_>>());
        let swapped = class(&rows.iter().map(|r| 2 - r.1).collect::<Vec<_>>());
        prop_assert_eq!(mdl::cuts(&x, &c, 3, None).unwrap(), mdl::cuts(&x, &swapped, 3, None).unwrap());
    }
}

#[test]
fn bad_values_and_weights_are_refused_and_no_rows_give_no_cuts() {
    let c = class(&[0, 1]);
    assert!(mdl::cuts(&[1.0, f64::INFINITY], &c, 3, None).is_err());
    assert!(mdl::cuts(&[1.0, 2.0], &c, 3, Some(&[1.0, f64::NAN])).is_err());
    assert!(mdl::cuts(&[1.0, 2.0], &c, 3, Some(&[1.0, -1.0])).is_err());
    assert!(mdl::cuts(&[1.0, 2.0], &c, 1, None).is_err());
    assert!(mdl::cuts(&[], &class(&[]), 3, None).unwrap().is_empty());
    assert!(mdl::cuts(&[f64::NAN; 2], &c, 3, None).unwrap().is_empty());
}

#[test]
fn huge_and_tiny_values_are_cut_between_their_neighbours() {
    for (low, high) in
        [(-f64::MAX, f64::MAX), (0.0, f64::MIN_POSITIVE), (1.0, 1.0f64.next_up()), (-0.0, 5e-324)]
    {
        let x: Vec<f64> = (0..20).map(|i| if i < 10 { low } else { high }).collect();
        let c = class(&(0..20).map(|i| usize::from(i >= 10)).collect::<Vec<_>>());
        let cuts = mdl::cuts(&x, &c, 3, None).unwrap();
        assert_eq!(cuts.len(), 1);
        assert!(low <= cuts[0] && cuts[0] < high, "{low} {cuts:?} {high}");
    }
}
