//! Euclidean projection onto `{w : ln Σ exp(w) ≤ 0}`, exactly, by one scalar equation in the Wright omega
//! function. Replaces the iterative scheme of Lin (2003) that the ICML 2013 paper uses.

use hingenet_base::numeric::log::log_sum_exp;

/// Projects `v` in place; returns the multiplier μ of the constraint (0 when it is inactive).
///
/// ```text
/// min ½ ‖w − v‖²   s.t.  lse(w) ≤ 0
/// KKT:  w_i + μ exp(w_i) = v_i,  Σ exp(w_i) = 1     ⇒     w_i = v_i − ω(v_i + ln μ)
/// ```
///
/// Entries of -inf stay. Newton on `g(s) = ln Σ ω(v_i + s) − s`, s = ln μ, which is strictly decreasing,
/// with bisection whenever a step leaves the bracket.
pub fn project_sub_normalised(v: &mut [f64]) -> f64 {
    let total = log_sum_exp(v);
    if total <= 0.0 || v.is_empty() {
        return 0.0;
    }
    if v.len() == 1 {
        return std::mem::take(&mut v[0]);
    }
    let Some((mut low, mut high)) = bracket(v) else {
        v.iter_mut().for_each(|x| *x -= total);
        return 0.0;
    };
    let mut s = low;
    for _ in 0..100 {
        let (g, slope) = residual(v, s);
        if g > 0.0 {
            low = s;
        } else {
            high = s;
        }
        let mut next = s - g / slope;
        if !(next >= low && next <= high) {
            next = 0.5 * (low + high);
        }
        let step = (next - s).abs();
        s = next;
        if step <= 1e-14 * s.abs().max(1.0) {
            break;
        }
    }
    for x in v.iter_mut().filter(|x| x.is_finite()) {
        let u = wright_omega(*x + s);
        // v and ω nearly cancel for large v; the logarithm does not.
        *x = if u > 1.0 { u.ln() - s } else { *x - u };
    }
    let rest = log_sum_exp(v).max(0.0);
    v.iter_mut().for_each(|x| *x -= rest);
    s.exp()
}

/// Bounds of s = ln μ: `max(0, v_max) ≤ μ ≤ r (v_max + ln r)`, r the number of finite entries, and the
/// Newton step from μ = 0. `None` when rounding leaves no positive lower bound.
fn bracket(v: &[f64]) -> Option<(f64, f64)> {
    let finite = || v.iter().copied().filter(|x| x.is_finite());
    let r = finite().count() as f64;
    let max = finite().fold(f64::NEG_INFINITY, f64::max);
    let mut low = max.max(0.0);
    if max <= 30.0 {
        let (once, twice) = finite().fold((0.0, 0.0), |(a, b), x| (a + x.exp(), b + (2.0 * x).exp()));
        low = low.max((once - 1.0) / twice);
    }
    let high = r * (max + r.ln());
    (low > 0.0 && high > 0.0).then(|| (low.ln(), high.max(low).ln()))
}

/// g(s) and its derivative.
fn residual(v: &[f64], s: f64) -> (f64, f64) {
    let (mut sum, mut bent) = (0.0, 0.0);
    for x in v.iter().filter(|x| x.is_finite()) {
        let u = wright_omega(x + s);
        sum += u;
        bent += u * u / (1.0 + u);
    }
    (sum.ln() - s, -bent / sum)
}

/// The Wright omega function on the real line, `ω(z) + ln ω(z) = z`: relative error below 1e-14 on [-700, 1e12]: a start by regions, then two steps of the
/// fourth-order iteration of Fritsch, Shafer and Crowley.
fn wright_omega(z: f64) -> f64 {
    if z < -20.0 {
        let e = z.exp();
        return e * (1.0 - e);
    }
    let mut u = if z < -2.0 {
        let e = z.exp();
        e * (1.0 - e + 1.5 * e * e)
    } else if z < 1.0 {
        (2.0 * (z - 1.0) / 3.0).exp()
    } else {
        let l = z.ln();
        z - l + l / z
    };
    for _ in 0..2 {
        let r = z - u - u.ln();
        let b = (1.0 + u) * (1.0 + u + 2.0 * r / 3.0);
        u *= 1.0 + r / (1.0 + u) * (b - r / 2.0) / (b - r);
    }
    u
}

#[test]
fn the_defining_equation_holds_over_the_whole_range() {
    for k in -600..=1200 {
        let z = f64::from(k) * 0.5;
        let u = wright_omega(z);
        assert!((u + u.ln() - z).abs() <= 4e-14 * (1.0 + z.abs()), "z = {z}: {u}");
    }
    for z in [1e4, 1e8, 1e12] {
        let u = wright_omega(z);
        assert!(((u + u.ln() - z) / z).abs() < 1e-15, "z = {z}: {u}");
    }
}
