//! Network files written by other programs (pyAgrum 3.3.1 and pgmpy 1.1.2, in `tests/exchange`) are read, and mean
//! the same. They were made from one network of our own: P(the_class) = (0.25, 0.75), P(x_1 | the_class) below.

use hingenet::model::NamedNetwork;

const X: [[f64; 3]; 2] = [[0.1, 0.2, 0.7], [0.0000123, 0.5, 0.4999877]];

fn check(net: NamedNetwork, tolerance: f64) {
    let net = net.with_class_first("the_class").unwrap();
    assert_eq!(net.variables[0].states, ["s_0", "yes"]);
    assert_eq!(net.variables[1].name, "x_1");
    assert_eq!(net.variables[1].states, ["s___inf__2_5_", "a", "b"]);
    for (c, prior) in [0.25f64, 0.75].into_iter().enumerate() {
        for (j, p) in X[c].into_iter().enumerate() {
            let state = [c, j];
            let got = net.network.log_joint(|i| state[i]).exp();
            assert!((got - prior * p).abs() < tolerance, "P({c}, {j}): {got} against {}", prior * p);
        }
    }
}

#[test]
fn a_bif_file_of_pgmpy_is_read() {
    check(NamedNetwork::from_bif(include_str!("exchange/pgmpy.bif")).unwrap(), 1e-12);
}

/// pyAgrum reads and writes the numbers of BIF in single precision.
#[test]
fn a_bif_file_of_pyagrum_is_read() {
    check(NamedNetwork::from_bif(include_str!("exchange/pyagrum.bif")).unwrap(), 1e-7);
}

/// pyAgrum writes six digits into XMLBIF.
#[test]
fn an_xmlbif_file_of_pyagrum_is_read() {
    check(NamedNetwork::from_xmlbif(include_str!("exchange/pyagrum.xmlbif")).unwrap(), 1e-6);
}

#[test]
fn damaged_networks_are_refused_with_the_place() {
    let good = include_str!("exchange/pgmpy.bif");
    let bad =
        |from: &str, to: &str| NamedNetwork::from_bif(&good.replacen(from, to, 1)).unwrap_err().to_string();
    assert!(bad("discrete [ 3 ]", "discrete [ 4 ]").contains("4 states are announced, 3 are listed"));
    assert!(bad("0.25, 0.75", "0.25, 0.85").contains("sums to 1.1"));
    assert!(bad("0.25, 0.75", "0.25, nan").contains("outside 0 to 1"));
    assert!(bad("( yes ) 1.23e-05, 0.5, 0.4999877;", "").contains("lacks the row"));
    assert!(bad("x_1 | the_class", "x_1 | nobody").contains("unknown variable `nobody`"));
    assert!(bad("( the_class )", "( the_class | x_1 )").contains("BIF, line"));
    assert!(NamedNetwork::from_xmlbif("<BIF><NETWORK></NETWORK></BIF>").is_err());
}

/// A variable of two states with these parents, all rows of its table given by one line.
fn of_default(name: &str, parents: &[String]) -> String {
    let given = if parents.is_empty() { String::new() } else { format!(" | {}", parents.join(", ")) };
    format!(
        "variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}\nprobability ( {name}{given} ) {{ default 0.25, 0.75; }}\n"
    )
}

/// A line stands for a table of any size, so that what tables take together is bounded.
#[test]
fn default_rows_of_bif_are_read_unless_they_make_a_small_file_a_large_network() {
    let net =
        "variable B { type discrete [ 2 ] { a, b }; }\nprobability ( B | A ) { (b) 1, 0; default 0.5, 0.5; }";
    let net = NamedNetwork::from_bif(&(of_default("A", &[]) + net)).unwrap();
    let joint = |a: usize, b: usize| net.network.log_joint(|i| [a, b][i]).exp();
    assert_eq!([joint(0, 1), joint(1, 0), joint(1, 1)].map(|p| (1e12 * p).round()), [125e9, 750e9, 0.0]);

    let roots: Vec<String> = (0..12).map(|i| format!("R{i}")).collect();
    let text: String = roots.iter().map(|name| of_default(name, &[])).collect();
    let with = |children: usize| {
        let more: String = (0..children).map(|i| of_default(&format!("C{i}"), &roots)).collect();
        NamedNetwork::from_bif(&(text.clone() + &more))
    };
    assert_eq!(with(10).unwrap().network.w().len(), 12 * 2 + 10 * (2 << 12));
    assert!(with(200).unwrap_err().to_string().contains("too short for a table of this size"));
}

#[test]
fn names_that_are_the_same_once_restored_are_refused() {
    let good = include_str!("exchange/pgmpy.bif");
    let twice = good.replacen("};", "};\n property state0 = yes;", 1);
    assert_ne!(good, twice);
    let error = NamedNetwork::from_bif(&twice).unwrap_err().to_string();
    assert!(error.contains("has state `yes` twice"), "{error}");
}
