//! All classes at once: numbers of one table cell for every class, in lanes of four that the compiler puts
//! into one or two registers, and the products and rescaling that message passing does with them.

/// Four classes.
pub(super) type Lanes = [f64; 4];

/// Beliefs are rescaled when their largest entry falls below this.
const SMALL: f64 = 1e-30;
/// Positive entries of tables, beliefs and messages are kept above this, so that the product of three is
/// within the range of `f64`. Rows that need smaller ones are computed in log space: products would lose
/// them, and later factors might want them back.
pub(super) const FAR: f64 = 1e-100;
/// While the product of the smallest entries of all tables is above this, nothing can be lost.
const SAFE: f64 = 1e-290;

/// What the tables of a network allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    /// No product of all tables can leave the range of the numbers.
    Safe,
    /// Products are looked at after every factor.
    Checked,
    /// Single entries are too small for products; everything in log space.
    LogOnly,
}

impl Range {
    /// From the smallest positive entry of each table (as a logarithm).
    pub fn of(smallest: impl Iterator<Item = f64>) -> Range {
        let (lowest, total) = smallest.fold((0.0_f64, 0.0), |(l, t), w| (l.min(w), t + w));
        match lowest < FAR.ln() {
            true => Range::LogOnly,
            false if total < SAFE.ln() => Range::Checked,
            false => Range::Safe,
        }
    }
}

/// The logarithm of the smallest positive entry of a log table.
pub(super) fn smallest_positive<'a>(log_table: impl IntoIterator<Item = &'a f64>) -> f64 {
    log_table.into_iter().copied().filter(|w| *w > f64::NEG_INFINITY).fold(0.0, f64::min)
}

/// The values of all classes in lanes, the rest filled up.
pub(super) fn in_lanes(k: usize, fill: f64, value: impl Fn(usize) -> f64) -> impl Iterator<Item = Lanes> {
    let class = move |c: usize| if c < k { value(c) } else { fill };
    (0..k.div_ceil(4)).map(move |lane| std::array::from_fn(|q| class(4 * lane + q)))
}

#[inline(always)]
pub(super) fn multiply(x: &mut [Lanes], y: &[Lanes]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = std::array::from_fn(|q| x[q] * y[q]));
}

#[inline(always)]
pub(super) fn add(x: &mut [Lanes], y: &[Lanes]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = std::array::from_fn(|q| x[q] + y[q]));
}

/// Multiplies a message without open variables into the running product, and moves the product into the
/// log scores before it gets too small. False if it vanished for some class.
#[inline(always)]
pub(super) fn close(message: &[Lanes], product: &mut [Lanes], score: &mut [Lanes]) -> bool {
    multiply(product, message);
    !is_small(product) || absorb(product, score)
}

/// Moves the product into the log scores. False if it vanished for some class.
pub(super) fn absorb(product: &mut [Lanes], score: &mut [Lanes]) -> bool {
    let product = product.as_flattened_mut();
    let normal = product.iter().all(|p| *p > f64::MIN_POSITIVE);
    for (p, s) in product.iter_mut().zip(score.as_flattened_mut()) {
        *s += p.ln();
        *p = 1.0;
    }
    normal
}

/// Divides the belief (entries of `top.len()` lanes) by its largest entry in each class where that is
/// small, and adds the logarithm to the score. False if entries of one class are too far apart. `top` is
/// overwritten. Nothing is done where nothing can underflow.
#[inline(always)]
pub(super) fn rescale(belief: &mut [Lanes], top: &mut [Lanes], score: &mut [Lanes], range: Range) -> bool {
    if range == Range::Safe {
        return true;
    }
    let k = top.len();
    for (lane, top) in top.iter_mut().enumerate() {
        let mut largest = [0.0; 4];
        let mut at = lane;
        while at < belief.len() {
            let b = belief[at];
            largest = std::array::from_fn(|q| if b[q] > largest[q] { b[q] } else { largest[q] });
            at += k;
        }
        *top = largest;
    }
    if is_small(top) {
        rescale_small(top, belief, score);
    }
    within_range(belief)
}

/// The rare part of rescaling, kept out of the loop over nodes.
#[cold]
fn rescale_small(largest: &[Lanes], belief: &mut [Lanes], score: &mut [Lanes]) {
    for (lane, l) in largest.iter().enumerate() {
        for q in (0..4).filter(|&q| l[q] < SMALL && l[q] > 0.0) {
            score[lane][q] += l[q].ln();
            belief.iter_mut().skip(lane).step_by(largest.len()).for_each(|b| b[q] /= l[q]);
        }
    }
}

/// No positive entry is about to be lost. (A zero is a probability of zero: nothing has been lost so far.)
#[inline(always)]
fn within_range(belief: &[Lanes]) -> bool {
    let far = |x: f64| (x < FAR) & (x > 0.0);
    !belief.iter().fold(false, |any, b| any | far(b[0]) | far(b[1]) | far(b[2]) | far(b[3]))
}

#[inline(always)]
fn is_small(x: &[Lanes]) -> bool {
    let small = |x: &Lanes| (x[0] < SMALL) | (x[1] < SMALL) | (x[2] < SMALL) | (x[3] < SMALL);
    x.iter().fold(false, |any, x| any | small(x))
}
