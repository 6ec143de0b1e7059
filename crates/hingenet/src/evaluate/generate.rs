//! Data made on the spot, with the target last and named `class`: the classic generators of the
//! literature, and a mixed table with missing cells. Row `m` is drawn from its own stream of the seed, so
//! the first rows of a longer table are the rows of a shorter one.

use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::random::Random;
use hingenet_base::similar::did_you_mean;
use hingenet_data::table::{Codes, Column, Table};
use hingenet_density::generate::Dependence::{self, Complex, Simple};
use hingenet_density::generate::Networks;
use hingenet_density::generate::Orders::{self, Common, Independent};
use hingenet_gaussian::generate::{ClassNetworks, NODES};

/// One generator a user can name.
#[derive(Debug, Clone, Copy)]
pub struct Generator {
    /// Name.
    pub name: &'static str,
    /// What it makes, in a sentence.
    pub about: &'static str,
    /// Number of rows unless asked for otherwise.
    pub default_rows: usize,
    /// Names and types of the columns, the target last.
    columns: fn() -> Vec<(String, Kind)>,
    source: Source,
}

/// Where the rows come from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// Nothing but random numbers.
    Row(fn(&mut Random) -> Row),
    /// Two random forests of normal features or mixtures, one for each class (Tenzer et al. 2020).
    Forests(Dependence),
    /// Two random networks of such features; `true` if a third of them have the same parents in both.
    Pair(Dependence, Orders, bool),
    /// Sparse Gaussian networks that differ in a few arcs.
    Sparse,
}

const fn pair(name: &'static str, about: &'static str, source: Source) -> Generator {
    Generator { name, about, default_rows: 1000, columns: || numbers(FEATURES, 1, BINARY), source }
}

/// All generators, in the order they are shown.
pub const GENERATORS: &[Generator] = &[
    Generator {
        name: "waveform",
        about: "waveform-21 of Breiman et al. (1984): mixtures of two of three waves, 3 classes",
        default_rows: 5000,
        columns: || numbers(21, 0, &["0", "1", "2"]),
        source: Source::Row(waveform),
    },
    Generator {
        name: "ringnorm",
        about: "ringnorm of Breiman (1996): a wide Gaussian around a narrow one, 20 features",
        default_rows: 7400,
        columns: || numbers(20, 1, BINARY),
        source: Source::Row(ringnorm),
    },
    Generator {
        name: "corral",
        about: "class = a0 a1 or b0 b1; one irrelevant and one 75 % correlated feature (John et al. 1994)",
        default_rows: 128,
        columns: corral_columns,
        source: Source::Row(corral),
    },
    Generator {
        name: "mofn-3-7-10",
        about: "class = at least 3 of 7 bits are set; 3 further bits are irrelevant",
        default_rows: 1324,
        columns: mofn_columns,
        source: Source::Row(mofn),
    },
    Generator {
        name: "mixed",
        about: "state of pumps: numbers and categories that depend on each other, 8 % of cells missing",
        default_rows: 3000,
        columns: mixed_columns,
        source: Source::Row(mixed),
    },
    Generator {
        name: "gbn",
        about: "sparse Gaussian networks of two classes that differ in 16 of 80 arcs, 40 features (Zhou et al. 2015)",
        default_rows: 120,
        columns: || numbers(NODES, 1, BINARY),
        source: Source::Sparse,
    },
    pair(
        "forest",
        "a random forest of normal features for each of two classes, 20 features (Tenzer et al. 2020)",
        Source::Forests(Simple),
    ),
    pair(
        "forest-complex",
        "the same with mixtures of t and normal distributions instead of normal ones",
        Source::Forests(Complex),
    ),
    pair(
        "bn",
        "independent networks with three parents a feature, one for each of two classes, 20 features (Tenzer et al. 2020)",
        Source::Pair(Simple, Independent, false),
    ),
    pair(
        "bn-shared",
        "the same, a third of the features with the same parents in both classes",
        Source::Pair(Simple, Independent, true),
    ),
    pair(
        "bn-complex",
        "as bn, with mixtures of t and normal distributions instead of normal ones",
        Source::Pair(Complex, Independent, false),
    ),
    pair("bn-complex-shared", "as bn-shared, with such mixtures", Source::Pair(Complex, Independent, true)),
    pair(
        "bn-one-order",
        "as bn, both networks of one order of the features and with the same roots: they differ in their arcs only",
        Source::Pair(Simple, Common, false),
    ),
    pair(
        "bn-one-order-shared",
        "the same, a third of the features with the same parents in both classes",
        Source::Pair(Simple, Common, true),
    ),
    pair(
        "bn-one-order-complex",
        "as bn-one-order, with mixtures of t and normal distributions",
        Source::Pair(Complex, Common, false),
    ),
    pair(
        "bn-one-order-complex-shared",
        "as bn-one-order-shared, with such mixtures",
        Source::Pair(Complex, Common, true),
    ),
];

/// An arc of a known network.
#[derive(Debug, Clone, PartialEq)]
pub struct TrueArc {
    /// Parent by name.
    pub from: String,
    /// Child by name.
    pub to: String,
    /// Weights in the two classes; 0 where a class lacks the arc.
    pub weights: [f64; 2],
}

/// The arcs of the networks behind a generator, where it has some: those of its first class, which the second has too, with
/// other weights, or lacks.
pub fn true_arcs(name: &str, seed: u64) -> Result<Option<Vec<TrueArc>>> {
    if name != "gbn" {
        return Ok(None);
    }
    let networks = ClassNetworks::new(seed)?;
    let columns = numbers(NODES, 1, BINARY);
    let theta = [0, 1].map(|class| networks.network(class).theta());
    let arc = |(i, j): (usize, usize)| TrueArc {
        from: columns[i].0.clone(),
        to: columns[j].0.clone(),
        weights: theta.each_ref().map(|theta| theta[(i, j)]),
    };
    Ok(Some(networks.network(0).dag().arcs().map(arc).collect()))
}

/// Makes `n` rows (the generator's default if `None`) of the named generator.
pub fn generate(name: &str, n: Option<usize>, seed: u64) -> Result<Table> {
    generate_within(name, n, seed, &Control::default())
}

/// Bytes of a cell while a table is made and written: as it is drawn, as it is kept, and as text.
const CELL: f64 = 24.0;
/// Rows between two looks at the control.
const CHECKED: usize = 1024;

/// [`generate`] for a caller who bounds the memory and may stop the work.
pub fn generate_within(name: &str, n: Option<usize>, seed: u64, control: &Control) -> Result<Table> {
    let generator = GENERATORS.iter().find(|g| g.name == name).ok_or_else(|| {
        let names: Vec<&str> = GENERATORS.iter().map(|g| g.name).collect();
        let meant = did_you_mean(name, names.iter().copied());
        Error::parameter("generator", name, format!("one of {}{meant}", names.join(", ")))
    })?;
    let n = n.unwrap_or(generator.default_rows);
    require("rows", n, "at least 1", n >= 1)?;
    let columns = (generator.columns)();
    let bytes = n as f64 * columns.len() as f64 * CELL;
    control.reserve(bytes, format!("generating {n} rows"), "make fewer rows (`-n`)")?;
    let values = generator.source.values(n, columns.len(), seed, control)?;
    let column = |((name, kind), values): ((String, Kind), Vec<f64>)| match kind {
        Kind::Number => Column::numeric(name, values),
        Kind::Category(names) => {
            let code = |c: &f64| (!c.is_nan()).then_some(*c as usize);
            let codes = Codes::from_options(names.len(), values.iter().map(code));
            Column::categorical(name, names.iter().map(|s| s.to_string()).collect(), codes)
        }
    };
    Table::new(columns.into_iter().zip(values).map(column).collect())
}

/// Cells of a row in column order: a number, or the code of a category.
type Row = Vec<Option<f64>>;

enum Kind {
    Number,
    Category(&'static [&'static str]),
}

const BIT: &[&str] = &["f", "t"];
const BINARY: &[&str] = &["0", "1"];

fn with_class(mut columns: Vec<(String, Kind)>, classes: &'static [&'static str]) -> Vec<(String, Kind)> {
    columns.push(("class".into(), Kind::Category(classes)));
    columns
}

/// Numbers `x1`, `x2`, ... (counted from `first`) and the class.
fn numbers(n: usize, first: usize, classes: &'static [&'static str]) -> Vec<(String, Kind)> {
    let digits = if n + first > 10 { 2 } else { 1 };
    with_class((first..n + first).map(|i| (format!("x{i:0digits$}"), Kind::Number)).collect(), classes)
}

impl Source {
    /// Draws so many rows by a seed, column by column; a missing cell is NaN.
    fn values(self, n: usize, n_columns: usize, seed: u64, control: &Control) -> Result<Vec<Vec<f64>>> {
        let row = self.rows(seed)?;
        let mut columns: Vec<Vec<f64>> = (0..n_columns).map(|_| Vec::with_capacity(n)).collect();
        for m in 0..n {
            if m % CHECKED == 0 {
                control.check()?;
            }
            columns.iter_mut().zip(row(m)).for_each(|(column, cell)| column.push(cell.unwrap_or(f64::NAN)));
        }
        Ok(columns)
    }

    /// What draws row `m` by a seed, which makes the networks, too.
    fn rows(self, seed: u64) -> Result<Box<dyn Fn(usize) -> Row>> {
        let of_stream = move |m: usize| Random::stream(seed, m as u64);
        let two = |networks: Networks| -> Box<dyn Fn(usize) -> Row> {
            // streams 0 to 3 of the seed make the networks
            Box::new(move |m| two_networks(&networks, &mut of_stream(m + 4)))
        };
        Ok(match self {
            Source::Row(row) => Box::new(move |m| row(&mut of_stream(m))),
            Source::Forests(dependence) => two(Networks::forest(FEATURES, dependence, seed)?),
            Source::Pair(dependence, orders, share_third) => {
                two(Networks::bn(FEATURES, dependence, orders, share_third, seed)?)
            }
            Source::Sparse => {
                let networks = ClassNetworks::new(seed)?;
                Box::new(move |m| sparse_networks(&networks, &mut of_stream(m)))
            }
        })
    }
}

/// A row of rounded numbers with its class.
fn classified(values: impl IntoIterator<Item = f64>, digits: i32, class: usize) -> Row {
    values.into_iter().map(|x| rounded(x, digits)).chain([Some(class as f64)]).collect()
}

fn rounded(x: f64, digits: i32) -> Option<f64> {
    let unit = 10f64.powi(digits);
    Some((x * unit).round() / unit + 0.0)
}

/// `x_i = u h_a(i) + (1 - u) h_b(i) + ε_i`, `i = 1..21`, `u` uniform, `ε` standard normal; the class says
/// which two of the three triangular waves are mixed.
fn waveform(random: &mut Random) -> Row {
    let wave = |centre: f64, i: f64| (6.0 - (i - centre).abs()).max(0.0);
    let (h1, h2, h3) = (11.0, 15.0, 7.0);
    let class = random.below(3);
    let (a, b) = [(h1, h2), (h1, h3), (h2, h3)][class];
    let u = random.uniform();
    let value = |i: i32| u * wave(a, f64::from(i)) + (1.0 - u) * wave(b, f64::from(i)) + random.normal();
    classified((1..=21).map(value), 2, class)
}

/// Class 0 is `N(0, 4 I)`, class 1 is `N(a, I)` with `a = 2 / sqrt(20)` in each of 20 dimensions.
fn ringnorm(random: &mut Random) -> Row {
    let class = random.below(2);
    let (mean, sd) = [(0.0, 2.0), (2.0 / 20f64.sqrt(), 1.0)][class];
    classified((0..20).map(|_| mean + sd * random.normal()), 4, class)
}

fn corral_columns() -> Vec<(String, Kind)> {
    let names = ["a0", "a1", "b0", "b1", "irrelevant", "correlated"];
    with_class(names.map(|n| (n.into(), Kind::Category(BIT))).into(), BINARY)
}

fn corral(random: &mut Random) -> Row {
    let bits: Vec<bool> = (0..5).map(|_| random.below(2) == 1).collect();
    let class = (bits[0] && bits[1]) || (bits[2] && bits[3]);
    let correlated = if random.uniform() < 0.75 { class } else { !class };
    bits.into_iter().chain([correlated, class]).map(|b| Some(f64::from(b))).collect()
}

fn mofn_columns() -> Vec<(String, Kind)> {
    with_class((0..10).map(|i| (format!("bit_{i}"), Kind::Category(BIT))).collect(), BINARY)
}

fn mofn(random: &mut Random) -> Row {
    let bits: Vec<bool> = (0..10).map(|_| random.below(2) == 1).collect();
    let class = bits[2..9].iter().filter(|b| **b).count() >= 3;
    bits.into_iter().chain([class]).map(|b| Some(f64::from(b))).collect()
}

fn mixed_columns() -> Vec<(String, Kind)> {
    let columns = vec![
        ("site".into(), Kind::Category(&["coast", "hill", "plant"])),
        ("maker".into(), Kind::Category(&["A", "B", "C", "D"])),
        ("fluid".into(), Kind::Category(&["brine", "oil", "water"])),
        ("load".into(), Kind::Number),
        ("speed".into(), Kind::Number),
        ("temperature".into(), Kind::Number),
        ("vibration".into(), Kind::Number),
        ("pressure".into(), Kind::Number),
        ("oil".into(), Kind::Category(&["clear", "dark", "milky"])),
        ("alarm".into(), Kind::Category(&["no", "yes"])),
    ];
    with_class(columns, &["leaking", "sound", "worn"])
}

/// Pumps in the field. A bearing that wears out runs hotter and shakes more than its load explains; a leak
/// loses pressure against what speed and fluid would give. So single readings say little without the
/// readings they depend on.
fn mixed(random: &mut Random) -> Row {
    let class = random.weighted(&[0.2, 0.5, 0.3]);
    let (leaking, worn) = (f64::from(class == 0), f64::from(class == 2));
    let site = random.weighted(&[0.3, 0.3, 0.4]);
    let maker =
        random.weighted(&[[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]][site]);
    let fluid = random.weighted(&[[0.6, 0.1, 0.3], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]][site]);
    let load = [40.0, 55.0, 70.0][site] + 14.0 * random.normal();
    let speed = 900.0 + 8.0 * load + 40.0 * random.normal();
    let temperature = 20.0 + 0.6 * load + 9.0 * worn + 4.0 * random.normal();
    let vibration = 0.5 + 0.002 * speed + [0.0, 0.3, 0.6, 0.9][maker] + 0.8 * worn + 0.35 * random.normal();
    let pressure = 0.006 * speed * [1.1, 0.9, 1.0][fluid] - 1.2 * leaking + 0.5 * random.normal();
    let oil = random.weighted(&[[0.5, 0.2, 0.3], [0.7, 0.25, 0.05], [0.3, 0.6, 0.1]][class]);
    let alarm = usize::from(random.uniform() < if temperature > 62.0 { 0.7 } else { 0.1 + 0.15 * leaking });
    let mut row: Row = [site, maker, fluid].map(|c| Some(c as f64)).into();
    row.extend([rounded(load, 1), rounded(speed, 0), rounded(temperature, 1), rounded(vibration, 2)]);
    row.extend([rounded(pressure, 2), Some(oil as f64), Some(alarm as f64)]);
    row.iter_mut().for_each(|cell| *cell = cell.filter(|_| random.uniform() >= 0.08));
    row.push(Some(class as f64));
    row
}

/// A row of the stand-in for the third experiment of Zhou et al. (2015).
fn sparse_networks(networks: &ClassNetworks, random: &mut Random) -> Row {
    let (values, class) = networks.row(random);
    classified(values, 4, class)
}

/// Features of the networks of Tenzer et al. (2020).
const FEATURES: usize = 20;

/// A row of two random networks, one for each of two equally frequent classes (Tenzer et al. 2020, section 5.1).
fn two_networks(networks: &Networks, random: &mut Random) -> Row {
    let class = random.below(2);
    classified(networks.row(class, random), 4, class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn category<'a>(table: &'a Table, column: &str, row: usize) -> &'a str {
        table.by_name(column).unwrap().as_categorical().unwrap().get(row).unwrap()
    }

    #[test]
    fn every_generator_puts_the_class_last_and_repeats_itself() {
        for g in GENERATORS {
            let table = generate(g.name, Some(300), 3).unwrap();
            assert_eq!(table, generate(g.name, Some(300), 3).unwrap());
            assert_ne!(table, generate(g.name, Some(300), 4).unwrap());
            assert_eq!(table.rows(&(0..40).collect::<Vec<_>>()), generate(g.name, Some(40), 3).unwrap());
            let class = &table.columns()[table.n_columns() - 1];
            assert_eq!((class.name(), class.n_missing()), ("class", 0));
            assert_eq!(table.n_missing() > 0, g.name == "mixed");
        }
        assert!(generate("nothing", None, 0).is_err() && generate("corral", Some(0), 0).is_err());
    }

    #[test]
    fn networks_differ_between_the_classes() {
        // The sum of the squares of all features is far larger where more features have parents and grandparents.
        for name in ["forest", "bn"] {
            let table = generate(name, Some(2000), 5).unwrap();
            let spread = |class: &str, column: usize| {
                let values = table.columns()[column].as_numeric().unwrap().with_nan();
                let rows: Vec<usize> = (0..2000).filter(|&m| category(&table, "class", m) == class).collect();
                rows.iter().map(|&m| values[m] * values[m]).sum::<f64>() / rows.len() as f64
            };
            let different = (0..20).filter(|&c| (spread("0", c) / spread("1", c)).ln().abs() > 0.3).count();
            assert!(different >= 3, "{name}: {different}");
        }
    }

    #[test]
    fn logical_classes_follow_their_rule() {
        let t = generate("corral", Some(500), 1).unwrap();
        let on = |column: &str, m: usize| category(&t, column, m) == "t";
        for m in 0..500 {
            let class = (on("a0", m) && on("a1", m)) || (on("b0", m) && on("b1", m));
            assert_eq!(category(&t, "class", m) == "1", class);
        }
        let agree = (0..500).filter(|&m| on("correlated", m) == (category(&t, "class", m) == "1")).count();
        assert!((300..450).contains(&agree), "{agree}");
    }

    #[test]
    fn waveform_means_are_those_of_the_mixed_waves() {
        let t = generate("waveform", Some(6000), 0).unwrap();
        // class 0 mixes the waves around positions 11 and 15: at position 11 (x10) the mean is (6 + 2) / 2
        let x = t.by_name("x10").unwrap().as_numeric().unwrap();
        let rows: Vec<f64> =
            (0..6000).filter(|&m| category(&t, "class", m) == "0").filter_map(|m| x.get(m)).collect();
        let mean = rows.iter().sum::<f64>() / rows.len() as f64;
        assert!((mean - 4.0).abs() < 0.15, "{mean}");
    }
}
