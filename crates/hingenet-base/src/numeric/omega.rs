//! The Wright omega function on the real line: `ω(z) + ln ω(z) = z`.

/// `ω(z)`, relative error below 1e-14 on [-700, 1e12]: a start by regions, then two steps of the
/// fourth-order iteration of Fritsch, Shafer and Crowley.
pub fn wright_omega(z: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
