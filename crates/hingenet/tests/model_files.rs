//! Model files: what was saved comes back bit by bit, and whatever stands in a file, loading it can fail but
//! not harm.

use hingenet::model::file::Container;
use hingenet::model::{Dataset, FitOptions, Model, fit, models};
use hingenet_base::control::Control;
use hingenet_base::error::Error;
use hingenet_base::numeric::random::Random;
use hingenet_data::table::{Codes, Column, Table, UnseenPolicy};
use serde_json::json;

/// Three classes, two numeric and two categorical features with dependencies, some cells missing.
fn table(n: usize, missing: f64) -> Table {
    let mut r = Random::new(3);
    let (mut x, mut y, mut a, mut b, mut class) = (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..n {
        let c = r.below(3);
        let u = r.normal() + c as f64;
        let k = if u > 1.0 { 1 } else { r.below(3) };
        let mut keep = |v: f64| if r.uniform() < missing { f64::NAN } else { v };
        x.push(keep(u));
        y.push(keep(u * 0.5 + c as f64));
        a.push((r.uniform() >= missing).then_some(k));
        b.push((r.uniform() >= missing).then(|| (k + c + r.below(2)) % 4));
        class.push(Some(c));
    }
    let names = |n: usize| (0..n).map(|i| format!("v\"{i}\n")).collect::<Vec<_>>();
    Table::new(vec![
        Column::numeric("x", x),
        Column::categorical("a <b>", names(3), Codes::from_options(3, a.into_iter())),
        Column::numeric("y", y),
        Column::categorical("", names(4), Codes::from_options(4, b.into_iter())),
        Column::categorical("class", names(3), Codes::from_options(3, class.into_iter())),
    ])
    .unwrap()
}

fn fitted(name: &str, table: &Table) -> Model {
    let data = Dataset::new(table.clone(), "class", None).unwrap();
    fit(&name.parse().unwrap(), &data, FitOptions::default(), &Control::default()).unwrap()
}

const NAMES: [&str; 11] = [
    "majority",
    "nb:ml",
    "tan:ml,alpha=0.5",
    "kdb2:ml",
    "aode:ml",
    "tan:ml-bn-svm,lambda=1,gamma=1",
    "slb,fraction=0.5,class_weights=none,bandwidth=normal",
    "kde-tan,bandwidth=normal",
    "sgbn:or,lambda1=10",
    "pool,fast=true",
    "pool,fast=true,a=nb:ml,g=kde-nb+bandwidth=normal,mask=block",
];

#[test]
fn a_saved_model_comes_back_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    for missing in [0.0, 0.2] {
        let table = table(200, missing);
        for name in NAMES {
            let model = fitted(name, &table);
            let path = folder.path().join("model.hgn");
            model.save(&path).unwrap();
            let loaded = Model::load(&path).unwrap();
            assert_eq!(loaded, model, "{name}");
            assert_eq!(loaded.to_bytes().unwrap(), std::fs::read(&path).unwrap());
            let bits = |m: &Model| {
                m.predict(&table, UnseenPolicy::Error)
                    .unwrap()
                    .log_proba
                    .iter()
                    .map(|p| p.to_bits())
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(&loaded), bits(&model), "{name}");
            let header = Model::read_header(&path).unwrap();
            assert_eq!(header["target"], "class");
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "temporary files are left: {left:?}");
}

/// A column of names takes no part in discrete networks, nor in those that come from a file.
#[test]
fn names_of_rows_take_no_part_in_a_model_that_comes_back() {
    let plain = table(60, 0.0);
    let names = (0..60).map(|m| format!("row {m}")).collect();
    let names = Column::categorical("name", names, Codes::from_options(60, (0..60).map(Some)));
    let columns: Vec<Column> = plain.columns().iter().cloned().chain([names]).collect();
    let table = Table::new(columns).unwrap();
    for name in ["nb:ml", "tan:ml", "aode:ml"] {
        let model = fitted(name, &table);
        let bytes = model.to_bytes().unwrap();
        assert!(Container::from_bytes(&bytes).unwrap().has("left_out"), "{name}: the names take part");
        assert_eq!(Model::from_bytes(&bytes).unwrap(), model, "{name}");
    }
}

/// Every name of the registry with its default options, so that searches and folds run too.
#[test]
fn no_model_depends_on_the_number_of_threads() {
    let given = |name: &str| format!("{name},edges=x->y");
    let name = |name: &str| if name.starts_with("dag:") { given(name) } else { name.to_string() };
    let names: Vec<String> = models().iter().map(|m| name(m.name)).collect();
    assert!(names.len() > 50, "{names:?}");
    for missing in [0.0, 0.2] {
        let table = table(120, missing);
        for name in &names {
            let one = on_threads(1, name, &table);
            assert!(missing > 0.0 || one.is_ok(), "{name}: {one:?}");
            assert!(
                one == on_threads(2, name, &table) && one == on_threads(8, name, &table),
                "{name}, missing {missing}"
            );
        }
    }
}

#[test]
fn the_bytes_of_many_rows_do_not_depend_on_the_number_of_threads() {
    for missing in [0.0, 0.2] {
        let table = table(1000, missing);
        for name in NAMES {
            let one = on_threads(1, name, &table);
            assert!(one.is_ok() && one == on_threads(2, name, &table), "{name}, missing {missing}");
            assert!(one == on_threads(8, name, &table), "{name}, missing {missing}");
        }
    }
}

/// The bytes of a model and the bits of its predictions, or why it cannot be fitted.
fn on_threads(n: usize, name: &str, table: &Table) -> Result<(Vec<u8>, Vec<u64>), String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    pool.install(|| {
        let data = Dataset::new(table.clone(), "class", None).unwrap();
        let model = fit(&name.parse().unwrap(), &data, FitOptions::default(), &Control::default());
        let model = model.map_err(|e| e.to_string())?;
        let predicted = model.predict(table, UnseenPolicy::Error).unwrap();
        Ok((model.to_bytes().unwrap(), predicted.log_proba.iter().map(|p| p.to_bits()).collect()))
    })
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    for missing in [0.0, 0.2] {
        let table = table(300, missing);
        let shuffled = table.rows(&Random::new(1).permutation(300));
        for name in NAMES {
            assert_eq!(
                fitted(name, &table).to_bytes().unwrap(),
                fitted(name, &shuffled).to_bytes().unwrap(),
                "{name}"
            );
        }
    }
}

/// Every position of a small file; of a large one the first and last thousand and some between, since each
/// try reads the whole file.
fn positions(len: usize) -> Vec<usize> {
    (0..len).filter(|n| len < 8000 || *n < 1000 || len - n < 1000 || n % 97 == 0).collect()
}

#[test]
fn a_truncated_file_is_refused_at_every_length() {
    for name in NAMES {
        let bytes = fitted(name, &table(60, 0.1)).to_bytes().unwrap();
        for n in positions(bytes.len()) {
            let error = Model::from_bytes(&bytes[..n]).unwrap_err();
            assert!(
                matches!(error, Error::ModelFile { .. }) && error.hint().is_some(),
                "{name}, {n} bytes: {error}"
            );
        }
    }
}

#[test]
fn a_file_with_any_byte_flipped_is_refused() {
    for name in NAMES {
        let bytes = fitted(name, &table(60, 0.1)).to_bytes().unwrap();
        for n in positions(bytes.len()) {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[n] ^= flip;
                assert!(Model::from_bytes(&damaged).is_err(), "{name}, byte {n} ^ {flip:02x}");
            }
        }
    }
}

/// A hostile file is either refused or a working model: no panic, no NaN.
fn try_hostile(bytes: &[u8], rows: &Table, loaded: &mut usize) {
    if let Ok(model) = Model::from_bytes(bytes) {
        *loaded += 1;
        if let Ok(p) = model.predict(rows, UnseenPolicy::Missing) {
            assert!(p.log_proba.iter().all(|x| !x.is_nan()));
            if !rows.columns().is_empty() {
                let _ = model.explain(rows, 0, UnseenPolicy::Missing);
            }
        }
        let _ = model.sample(3, &[], 1, &Control::default());
        let _ = model.network();
        let _ = model.log_likelihood(rows, UnseenPolicy::Missing);
    }
}

#[test]
fn random_damage_with_right_checksums_is_refused_or_harmless() {
    let rows = table(20, 0.3);
    let mut random = Random::new(11);
    let mut loaded = 0;
    for name in NAMES {
        let model = fitted(name, &table(60, 0.1));
        let bytes = model.to_bytes().unwrap();
        let header = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        for _ in 0..500 {
            let mut damaged = bytes[..bytes.len() - 4].to_vec();
            for _ in 0..1 + random.below(3) {
                let at = 20 + random.below(damaged.len() - 20);
                damaged[at] = random.bits() as u8;
            }
            seal(&mut damaged, header);
            try_hostile(&damaged, &rows, &mut loaded);
        }
    }
    assert!(loaded > 0, "the checksums were not recomputed as the format says");
}

/// Recomputes both checksums of a file without its last four bytes.
fn seal(bytes: &mut Vec<u8>, header: usize) {
    let crc = |part: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(part);
        crc.sum().to_le_bytes()
    };
    let sum = crc(&bytes[20..20 + header]);
    bytes[16..20].copy_from_slice(&sum);
    let sum = crc(bytes);
    bytes.extend_from_slice(&sum);
}

/// A model whose header can be altered.
struct Altered {
    container: Container,
    good: serde_json::Value,
}

impl Altered {
    fn of(name: &str) -> Self {
        let model = fitted(name, &table(60, 0.0));
        let container = Container::from_bytes(&model.to_bytes().unwrap()).unwrap();
        Altered { good: container.about.clone(), container }
    }

    /// The good header with other values at some places, all of which must be there.
    fn with(&mut self, values: &[(&str, serde_json::Value)]) -> &mut Self {
        self.container.about = self.good.clone();
        for (place, value) in values {
            *self.container.about.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = value.clone();
        }
        self
    }

    #[track_caller]
    fn is_refused(&self) {
        let error = Model::from_bytes(&self.container.to_bytes().unwrap()).unwrap_err();
        assert!(matches!(error, Error::ModelFile { .. }), "{error}");
    }
}

#[test]
fn hostile_headers_are_refused() {
    let mut model = Altered::of("tan:ml");
    let mut check = |place: &str, value: serde_json::Value| model.with(&[(place, value)]).is_refused();
    check("/classes", json!(["one"]));
    check("/classes", json!(["a", "a", "b"]));
    check("/classes", json!(vec!["x".to_string(); 70000]));
    check("/family", json!("perceptron"));
    check("/parameters/parents", json!([[1], [0], [], [], []]));
    check("/parameters/parents", json!([[], [0], [0], [0], [99]]));
    check("/parameters/parents", json!([[], [0]]));
    check("/parameters/parents/2", json!([0, 1, 3, 4]));
    check("/schema/features/0/name", json!("class"));
    check("/target", json!("x"));
    check("/facts/rows", json!(-1));
    check("/schema/features/0/kind", json!({"categorical": {"categories": ["a", "a"]}}));
    Altered::of("majority").with(&[("/parameters", json!({"anything": 1}))]).is_refused();
    Altered::of("aode:ml").with(&[("/parameters", json!([1]))]).is_refused();
    let mut pool = Altered::of("pool,fast=true,a=nb:ml");
    pool.with(&[("/parameters/term_a/family", json!("pool"))]).is_refused();
}

#[test]
fn sizes_that_are_not_those_of_the_columns_are_refused_before_anything_is_allocated() {
    let mut pool = Altered::of("pool,fast=true");
    for levels in [2, 4, 10_000_000, 1u64 << 32, 1 << 63, u64::MAX] {
        pool.with(&[
            ("/parameters/types/1/levels", json!(levels)),
            ("/parameters/states/1/levels", json!(levels)),
            ("/parameters/density_scales/1/levels/columns", json!(levels)),
            ("/parameters/gaussian_scales/1/levels/columns", json!(levels - 1)),
        ])
        .is_refused();
    }
    let mut gaussian = Altered::of("sgbn:or,lambda1=10");
    let short =
        json!([[], ["v\"0\n", "v\"1\n"], [], gaussian.good["parameters"]["features"]["categories"][3]]);
    gaussian.with(&[("/parameters/features/categories", short)]).is_refused();
    let mut fisher = Altered::of("fisher:or,lambda1=10,c=1,components=3");
    for components in [json!([]), json!([2, 1, 0]), json!([0, 0, 1]), json!([0, 1, 1_000_000])] {
        fisher.with(&[("/parameters/machine/components", components)]).is_refused();
    }
    let mut density = Altered::of("kde-nb,bandwidth=normal");
    density.with(&[("/schema/features/1/kind/categorical/categories", json!(["a", "b"]))]).is_refused();
    for levels in [2u64, 1 << 62, 1 << 63] {
        density
            .with(&[
                ("/parameters/units/units/1/Categories", json!(levels)),
                ("/parameters/lines/1/axis/Levels", json!(levels)),
                ("/parameters/lines/1/values", json!([])),
            ])
            .is_refused();
    }
}

/// Missing features are summed out along the forest of a class: a cycle has no end.
#[test]
fn a_forest_with_a_cycle_is_refused() {
    let mut density = Altered::of("kde-tan,bandwidth=normal");
    let pairs = density.good["parameters"]["pairs"].as_array().unwrap().len();
    assert!(pairs >= 3, "{pairs}");
    density.with(&[("/parameters/class_pairs/0", json!([0, 0]))]).is_refused();
    let all: Vec<usize> = (0..pairs).collect();
    if density.good["parameters"]["class_pairs"][0] != json!(all) {
        density.with(&[("/parameters/class_pairs/0", json!(all))]).is_refused();
    }
}

#[test]
fn a_header_with_a_key_twice_is_refused() {
    let bytes = fitted("nb:ml", &table(60, 0.0)).to_bytes().unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let (header, rest) = bytes[20..bytes.len() - 4].split_at(length);
    let header = String::from_utf8(header.to_vec()).unwrap();
    let twice = header.replacen("\"target\":", "\"target\":\"x\",\"target\":", 1);
    assert_ne!(header, twice);
    for (text, loads) in [(header, true), (twice, false)] {
        let mut file = bytes[..12].to_vec();
        file.extend((text.len() as u32).to_le_bytes());
        file.extend([0; 4]);
        file.extend(text.as_bytes());
        file.extend(rest);
        seal(&mut file, text.len());
        assert_eq!(Model::from_bytes(&file).is_ok(), loads);
    }
}

/// A source without end is not read to its end: not one without our magic, and not one that goes on behind the model.
#[test]
fn an_endless_source_is_refused_at_once() {
    let zeros = std::io::repeat(0);
    assert!(matches!(Container::read(zeros), Err(Error::ModelFile { .. })));
    let bytes = fitted("nb:ml", &table(60, 0.0)).to_bytes().unwrap();
    let more = std::io::Read::chain(&bytes[..], std::io::repeat(7));
    assert!(matches!(Container::read(more), Err(Error::ModelFile { .. })));
}

#[test]
fn errors_of_loading_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.hgn");
    let bytes = fitted("nb:ml", &table(60, 0.0)).to_bytes().unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let damaged = Model::load(&path).unwrap_err();
    assert!(
        matches!(damaged, Error::ModelFile { .. }) && damaged.to_string().contains("damaged.hgn"),
        "{damaged}"
    );
    Model::read_header(&path).expect("the header is whole");
    std::fs::write(&path, &bytes[..30]).unwrap();
    let cut = Model::read_header(&path).unwrap_err();
    assert!(matches!(cut, Error::ModelFile { .. }) && cut.to_string().contains("damaged.hgn"), "{cut}");
    // opening a folder succeeds on some systems, reading it never does
    for absent in [folder.path().join("none.hgn"), folder.path().to_path_buf()] {
        let error = Model::load(&absent).unwrap_err();
        let name = absent.display().to_string();
        assert!(matches!(error, Error::Io { .. }) && error.to_string().contains(&name), "{error}");
    }
}

/// `inspect` shows a header without its parameters: names that no model can have are refused there too.
#[test]
fn a_header_alone_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.hgn");
    let mut model = Altered::of("nb:ml");
    for (place, value) in [("/classes", json!(["one"])), ("/target", json!("x")), ("/facts/rows", json!(-1))]
    {
        std::fs::write(&path, model.with(&[(place, value)]).container.to_bytes().unwrap()).unwrap();
        assert!(matches!(Model::read_header(&path), Err(Error::ModelFile { .. })), "{place}");
    }
}

/// Sections take part in the checks like the header: absent, of another length, or nobody's.
#[test]
fn hostile_sections_are_refused() {
    let refused = |name: &str, problem: &str, alter: &dyn Fn(&mut Container)| {
        let mut model = Altered::of(name);
        alter(&mut model.container);
        let error = Model::from_bytes(&model.container.to_bytes().unwrap()).unwrap_err();
        assert!(matches!(error, Error::ModelFile { .. }), "{name}: {error}");
        assert!(error.to_string().contains(problem), "{name}: `{error}` is not `{problem}`");
    };
    refused("majority", "unknown section `more`", &|c| c.put("more", &[1.0]));
    refused("majority", "section `log_prior` is absent", &|c| drop(c.take::<f64>("log_prior")));
    refused("nb:ml", "section `cut_counts` is not of type u32", &|c| c.put("cut_counts", &[1.0, 2.0]));
    refused("nb:ml", "section `w` is not of type f64", &|c| c.put::<u32>("w", &[0; 8]));
    let third = (1.0_f64 / 3.0).ln();
    for bad in
        [vec![third; 2], vec![0.0; 3], vec![f64::NAN; 3], vec![1.0, f64::NEG_INFINITY, f64::NEG_INFINITY]]
    {
        refused("majority", "log probabilities that sum to one", &|c| c.put("log_prior", &bad));
    }
    refused("majority", "classes", &|c| c.put("log_prior", &[0.5_f64.ln(); 2]));
    for (section, problem) in [("w", "parameters without a network"), ("cuts", "cut points without a column")]
    {
        refused("nb:ml", problem, &|c| {
            let mut values: Vec<f64> = c.take(section).unwrap();
            values.push(0.5);
            c.put(section, &values);
        });
        refused("nb:ml", "numbers are absent", &|c| {
            let mut values: Vec<f64> = c.take(section).unwrap();
            values.pop();
            c.put(section, &values);
        });
    }
    refused("nb:ml", "cut points are absent", &|c| c.put::<u32>("cut_counts", &[]));
    refused("nb:ml", "temperatures", &|c| c.put("temperature", &[1.0, 1.0]));
    // columns 1 and 3 hold categories
    for bad in [&[0][..], &[4], &[3, 1], &[1, 1]] {
        refused("nb:ml", "take no part", &|c| c.put::<u32>("left_out", bad));
    }
}

#[test]
fn a_failed_save_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let model = fitted("nb:ml", &table(60, 0.0));
    let error = model.save(folder.path().join("no such folder/model.hgn")).unwrap_err();
    assert!(matches!(error, Error::Io { .. }) && error.to_string().contains("model.hgn"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Whatever overflowed in a fit: the loader would refuse its file, so it is never written, and the old file stays.
#[test]
fn a_model_that_could_not_be_read_back_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.hgn");
    let good = fitted("nb:ml", &table(60, 0.0));
    good.save(&path).unwrap();
    let old = std::fs::read(&path).unwrap();
    let alterations: [fn(&mut Model); 3] = [
        |m| m.facts.chosen.extend([("lambda".into(), f64::INFINITY)]),
        |m| m.facts.chosen.extend([("lambda".into(), f64::NAN)]),
        |m| m.classes[1] = m.classes[0].clone(),
    ];
    for (k, alter) in alterations.iter().enumerate() {
        let mut model = good.clone();
        alter(&mut model);
        let error = model.save(&path).unwrap_err();
        let told = error.to_string();
        assert!(matches!(error, Error::Numeric { .. }), "{k}: {told}");
        assert!(told.contains("no model file can hold") && told.contains("extreme?"), "{k}: {told}");
        assert!(std::fs::read(&path).unwrap() == old, "{k}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{k}");
    }
}

/// A container inside another one, altered.
fn with_inner(bytes: &[u8], section: &str, alter: impl FnOnce(&mut Container)) -> Vec<u8> {
    let mut outer = Container::from_bytes(bytes).unwrap();
    let mut inner = Container::from_bytes(&outer.take::<u8>(section).unwrap()).unwrap();
    alter(&mut inner);
    outer.put(section, &inner.to_bytes().unwrap());
    outer.to_bytes().unwrap()
}

fn keeping_statistics(name: &str) -> Vec<u8> {
    let data = Dataset::new(table(200, 0.0), "class", None).unwrap();
    let options = FitOptions { keep_statistics: true, ..FitOptions::default() };
    fit(&name.parse().unwrap(), &data, options, &Control::default()).unwrap().to_bytes().unwrap()
}

#[test]
fn statistics_whose_states_are_not_those_of_the_columns_are_refused() {
    let bytes = keeping_statistics("tan:ml");
    let coders = "/task/work/Count/coding/coders";
    let swapped = with_inner(&bytes, "statistics/task", |task| {
        task.about.pointer_mut(coders).unwrap().as_array_mut().unwrap().swap(0, 1);
    });
    let fewer = with_inner(&bytes, "statistics/task", |task| {
        let names = format!("{coders}/1/categories/names");
        task.about.pointer_mut(&names).unwrap().as_array_mut().unwrap().pop();
    });
    for altered in [swapped, fewer] {
        let error = Model::from_bytes(&altered).unwrap_err().to_string();
        assert!(error.contains("the states are not those of the columns"), "{error}");
    }
}

#[test]
fn counts_that_no_rows_have_are_refused_or_cannot_be_merged() {
    let counted = |name: &str, n: f64| {
        with_inner(&keeping_statistics(name), "statistics/gathered", |gathered| {
            let mut counts: Vec<f64> = gathered.take("counts").unwrap();
            counts[0] = n;
            gathered.put("counts", &counts);
        })
    };
    for name in ["nb:ml", "tan:ml", "aode:ml"] {
        for n in [2f64.powi(54), 1e308, 0.5, -1.0, f64::INFINITY] {
            let error = Model::from_bytes(&counted(name, n)).unwrap_err().to_string();
            assert!(error.contains("a count is no whole number of rows"), "{name} {n}: {error}");
        }
        let most = Model::from_bytes(&counted(name, 2f64.powi(53))).unwrap();
        let error = most.merge(&most, &Control::default()).unwrap_err();
        assert!(error.to_string().contains("no table has so many rows"), "{name}: {error}");
    }
    // what every network has of its own tables
    let mut container =
        Container::from_bytes(&fitted("tan:ml", &table(200, 0.0)).to_bytes().unwrap()).unwrap();
    let mut support: Vec<f64> = container.take("support").unwrap();
    support[0] = 1e308;
    container.put("support", &support);
    let model = Model::from_bytes(&container.to_bytes().unwrap()).unwrap();
    let error = model.merge(&model, &Control::default()).unwrap_err();
    assert!(matches!(error, Error::ModelFile { .. }), "{error}");
}

/// Moments may be possible and still be of numbers that no network can hold.
#[test]
fn moments_merge_to_a_model_that_can_be_saved_or_are_refused_as_damaged() {
    let bytes = keeping_statistics("sgbn:or,lambda1=20");
    let (mut merged, mut refused) = (0, 0);
    for value in [1, -(1 << 60), 1 << 100] {
        for at in (0..12).step_by(3) {
            let altered = with_inner(&bytes, "statistics/gathered", |gathered| {
                let mut products: Vec<i128> = gathered.take("products").unwrap();
                products[at] = value;
                gathered.put("products", &products);
            });
            let Ok(model) = Model::from_bytes(&altered) else { continue };
            match model.merge(&model, &Control::default()).and_then(|both| both.to_bytes()) {
                Ok(_) => merged += 1,
                Err(Error::ModelFile { .. } | Error::Data { .. }) => refused += 1,
                Err(other) => panic!("{at} {value}: {other}"),
            }
        }
    }
    assert!(merged > 0 && refused > 0, "{merged} {refused}");
}

#[test]
fn a_temperature_that_no_calibration_gives_is_refused() {
    let bytes = fitted("tan:ml", &table(200, 0.0)).to_bytes().unwrap();
    for temperature in [5e-324, 1e-101, 1e101, 0.0, f64::NAN] {
        let mut container = Container::from_bytes(&bytes).unwrap();
        container.put("temperature", &[temperature]);
        let error = Model::from_bytes(&container.to_bytes().unwrap()).unwrap_err().to_string();
        assert!(error.contains("temperature"), "{error}");
    }
}
