//! What holds for any names and cells.

use super::*;
use proptest::prelude::*;

fn column_from(name: &str, cells: &[Option<String>]) -> Column {
    let mut categories: Vec<String> = cells.iter().flatten().cloned().collect();
    hingenet_data::table::category_order(&mut categories);
    categories.dedup();
    let code = |c: &Option<String>| c.as_ref().and_then(|c| categories.iter().position(|d| d == c));
    let codes = Codes::from_options(categories.len(), cells.iter().map(code));
    Column::categorical(name, categories, codes)
}

fn is_token(text: &str) -> bool {
    hingenet_data::table::read::MISSING_TOKENS.contains(&text)
}

proptest! {
    /// Whatever the names and cells, the CSV that is written reads back as the same table.
    #[test]
    fn a_written_table_reads_back_the_same(
        names in prop::collection::hash_set("\\PC{1,6}|[ ,;\t\"\r\n\u{feff}a]{1,4}", 1..5),
        texts in prop::collection::vec(prop::option::of("\\PC{1,6}|[ ,;\t\"\r\na]{1,4}"), 1..20),
        numbers in prop::collection::vec(prop::option::of(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL), 20),
    ) {
        let texts: Vec<Option<String>> = texts.into_iter().map(|t| t.filter(|t| !is_token(t))).collect();
        let mut options = ReadOptions { format: Some(Format::Csv), ..Default::default() };
        let columns = names.iter().enumerate().map(|(i, name)| if i % 2 == 0 {
            options.categorical.push(name.clone());
            column_from(name, &texts)
        } else {
            options.numeric.push(name.clone());
            let values = numbers.iter().take(texts.len()).map(|x| x.unwrap_or(f64::NAN)).collect();
            Column::numeric(name.clone(), values)
        }).collect();
        let table = Table::new(columns).unwrap();
        let mut bytes = Vec::new();
        write_csv(&table, &mut bytes).unwrap();
        let back = try_read("back.csv", &bytes, &options);
        prop_assert!(back.is_ok(), "{:?} from {:?}", back, String::from_utf8_lossy(&bytes));
        prop_assert_eq!(back.unwrap().table, table, "{:?}", String::from_utf8_lossy(&bytes));
    }

    /// Types, categories and their order do not depend on the order of the rows.
    #[test]
    fn row_order_never_matters(
        rows in prop::collection::vec(("1|1\\.0|2|10|-3|x|NA", "[0-9]{1,3}|\\?", "a|b|7|\\?"), 1..12).prop_shuffle(),
    ) {
        let text = |rows: &[(String, String, String)]| {
            rows.iter().fold("p,q,r\n".to_string(), |text, (p, q, r)| format!("{text}{p},{q},{r}\n"))
        };
        let mut sorted = rows.clone();
        sorted.sort();
        let order: Vec<usize> = {
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|&i, &j| rows[i].cmp(&rows[j]));
            order
        };
        let shuffled = csv(&text(&rows)).table;
        prop_assert_eq!(shuffled.rows(&order), csv(&text(&sorted)).table);
    }

    /// No bytes make the readers panic.
    #[test]
    fn arbitrary_bytes_are_a_table_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for name in ["a.csv", "a.arff", "a.parquet", "a.arrow", "-"] {
            let _ = try_read(name, &bytes, &ReadOptions::default());
        }
    }

    /// Text made of the characters that matter is a table or an error that has a hint.
    #[test]
    fn hostile_text_is_a_table_or_an_error(text in "[a1,;\"'\r\n {}?%@.\t]{0,60}") {
        for (name, head) in [("a.csv", ""), ("a.arff", "@attribute a numeric\n@attribute b {a,1}\n@data\n")] {
            let result = try_read(name, format!("{head}{text}").as_bytes(), &ReadOptions::default());
            if let Err(error) = result {
                prop_assert!(error.hint().is_some(), "{error}");
            }
        }
    }
}
