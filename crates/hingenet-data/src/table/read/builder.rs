//! Cells of one column on their way from text to a typed [`Column`]. Memory is that of the encoded
//! column: one or two bytes a cell while there are at most 65535 distinct texts, eight bytes for numbers
//! beyond that; the text itself is kept once per distinct value.

use super::context::{Context, Spot};
use super::dictionary::{Cell, Dictionary};
use super::number::{self, Number};
use super::options::{Note, Place};
use crate::table::{Codes, Column, Keyed, category_order};
#[cfg(feature = "parquet")]
use crate::table::{NO_KEY, cells_of};
use hingenet_base::error::{Error, Result};
#[cfg(feature = "parquet")]
use std::sync::Arc;

/// How a column is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    /// Not stored.
    Skip,
    /// Numeric if every present cell is a finite number, else categorical.
    Infer,
    /// Numbers, by the type that the file declares: nothing is left to infer but whether they are codes.
    #[cfg(feature = "parquet")]
    Numbers,
    /// Finite numbers only; what to do about a cell that is none.
    Numeric(&'static str),
    /// Categories, in the stated order.
    Categorical,
    /// Categories declared by the file, in its order.
    Declared(Vec<String>),
}

impl Role {
    /// Whether nobody but the cells says what the column is.
    fn is_open(&self) -> bool {
        match self {
            Role::Infer => true,
            #[cfg(feature = "parquet")]
            Role::Numbers => true,
            _ => false,
        }
    }
}

/// Stands for the code of a text that was not met yet.
#[cfg(feature = "parquet")]
pub(super) const NO_CODE: u32 = u32::MAX;

/// One column that grows cell by cell.
pub(super) struct ColumnBuilder {
    pub(super) name: String,
    pub(super) role: Role,
    store: Store,
    seen: Seen,
}

enum Store {
    Nothing,
    Coded(Coded),
    Numbers(Vec<f64>),
    Keyed(Keyed),
}

/// Distinct texts and the code of each cell; the largest code value stands for missing.
struct Coded {
    dictionary: Dictionary,
    codes: Codes,
    /// The number each category stands for, NaN if none.
    numbers: Vec<f64>,
}

/// First cells of each unusual kind.
#[derive(Default)]
struct Seen {
    n_texts: usize,
    text: Option<Spot>,
    infinite: Option<Spot>,
    large: Option<Spot>,
    /// A cell with a decimal comma among numbers, one whose comma may part thousands as well, and how many of both kinds are
    /// no whole numbers: in this piece of the table and in those before it.
    comma: Option<Spot>,
    thousands: Option<Spot>,
    n_comma_fractions: usize,
    /// Numbers in pieces before this one that are no whole numbers.
    n_fractions: usize,
}

impl ColumnBuilder {
    pub(super) fn new(name: String, role: Role) -> Self {
        let store = match &role {
            Role::Skip => Store::Nothing,
            Role::Numeric(_) => Store::Numbers(Vec::new()),
            #[cfg(feature = "parquet")]
            Role::Numbers => Store::Numbers(Vec::new()),
            Role::Infer | Role::Categorical => Store::Coded(Coded::new()),
            Role::Declared(categories) => {
                let mut coded = Coded::new();
                categories.iter().for_each(|text| coded.add(text.as_bytes().into(), f64::NAN));
                Store::Coded(coded)
            }
        };
        ColumnBuilder { name, role, store, seen: Seen::default() }
    }

    /// The column of the next piece of the table: without cells, but what commas are stays known.
    pub(super) fn next(&self) -> Self {
        let Seen { comma, thousands, n_comma_fractions, n_fractions, .. } = &self.seen;
        let n_fractions = n_fractions + self.n_fractions();
        let (comma, thousands) = (comma.clone(), thousands.clone());
        let seen =
            Seen { comma, thousands, n_comma_fractions: *n_comma_fractions, n_fractions, ..Seen::default() };
        ColumnBuilder { seen, ..ColumnBuilder::new(self.name.clone(), self.role.clone()) }
    }

    /// Numbers that are no whole ones, where other cells may be texts with commas.
    fn n_fractions(&self) -> usize {
        match (&self.store, &self.role) {
            #[cfg(feature = "parquet")]
            (_, Role::Numbers) => 0,
            (Store::Numbers(values), _) => fractions(values),
            (Store::Keyed(keyed), _) => keyed.n_fractions(),
            _ => 0,
        }
    }

    /// The numbers, laid out; `None` if the column has no numbers.
    fn numbers_mut(&mut self) -> Option<&mut Vec<f64>> {
        if let Store::Keyed(keyed) = &self.store {
            self.store = Store::Numbers(keyed.cells().collect());
        }
        match &mut self.store {
            Store::Numbers(values) => Some(values),
            _ => None,
        }
    }

    /// Memory of the cells so far, about, once they are typed: texts that all are numbers become numbers.
    pub(super) fn bytes(&self) -> usize {
        match &self.store {
            Store::Nothing => 0,
            Store::Coded(coded) => {
                let is_numeric = self.role == Role::Infer && self.seen.n_texts == 0;
                let cell = if is_numeric { 8 } else { 2 };
                cell * coded.codes.len() + 64 * coded.numbers.len()
            }
            Store::Numbers(values) => 8 * values.len(),
            Store::Keyed(keyed) => keyed.bytes(),
        }
    }

    /// Memory of so many cells, at least.
    pub(super) fn bytes_of(&self, n_cells: usize) -> f64 {
        let cell = match &self.store {
            Store::Nothing => 0.0,
            Store::Coded(_) => 1.0,
            Store::Numbers(_) | Store::Keyed(_) => 8.0,
        };
        cell * n_cells as f64
    }

    /// Adds a cell given as text.
    #[inline]
    pub(super) fn push(&mut self, cell: Cell<'_>, place: Place, context: &Context<'_>) -> Result<()> {
        match &mut self.store {
            Store::Nothing => Ok(()),
            Store::Coded(coded) => match coded.dictionary.find(cell) {
                Some(code) => {
                    coded.push(code);
                    Ok(())
                }
                None => self.push_new(cell, place, context),
            },
            Store::Numbers(_) | Store::Keyed(_) => self.push_parsed(cell, place, context),
        }
    }

    #[cfg(feature = "parquet")]
    /// Adds a cell given as text that may not be a missing token (a typed file has its own missing cells).
    pub(super) fn push_text(&mut self, text: &str, place: Place, context: &Context<'_>) -> Result<()> {
        let typed = context.without_tokens();
        let cell: Cell<'_> = text.as_bytes().into();
        match &self.store {
            Store::Coded(coded) if text.is_empty() && coded.dictionary.find(cell).is_none() => {
                self.push_category(cell, place, &typed)
            }
            _ => self.push(cell, place, &typed),
        }
    }

    pub(super) fn push_missing(&mut self) {
        match &mut self.store {
            Store::Nothing => {}
            Store::Coded(coded) => coded.push(Codes::MISSING_U16),
            Store::Numbers(_) | Store::Keyed(_) => {
                self.numbers_mut().into_iter().for_each(|values| values.push(f64::NAN))
            }
        }
    }

    #[cfg(feature = "parquet")]
    /// Adds cells given as keys of texts, [`NO_KEY`] for a missing one. `codes` has a place for each text, and keeps what code
    /// it has in this column: [`NO_CODE`] before it is met.
    pub(super) fn push_keys<'t>(
        &mut self,
        keys: &[u32],
        codes: &mut [u32],
        text: impl Fn(usize) -> Result<&'t str>,
        first_row: u64,
        context: &Context<'_>,
    ) -> Result<()> {
        for (k, &key) in keys.iter().enumerate() {
            let known = codes.get(key as usize).copied().filter(|code| *code != NO_CODE);
            match (&mut self.store, known) {
                (Store::Coded(coded), Some(code)) => coded.push(code as u16),
                _ if key == NO_KEY => self.push_missing(),
                _ => {
                    let text = text(key as usize)?;
                    self.push_text(text, Place::Row(first_row + k as u64), context)?;
                    if let (Store::Coded(coded), Some(code)) = (&self.store, codes.get_mut(key as usize)) {
                        *code = coded.dictionary.find(text.as_bytes().into()).map_or(NO_CODE, u32::from);
                    }
                }
            }
        }
        Ok(())
    }

    #[cfg(feature = "parquet")]
    /// Adds numbers of a typed file to a numeric column; NaN is a missing cell, infinity an error.
    pub(super) fn push_numbers(
        &mut self,
        numbers: &[f64],
        first_row: u64,
        context: &Context<'_>,
    ) -> Result<()> {
        if let Some(k) = numbers.iter().position(|x| x.is_infinite()) {
            let place = Place::Row(first_row + k as u64);
            return Err(infinite(&context.spot(place, numbers[k].to_string().as_bytes()), &self.name));
        }
        self.numbers_mut().into_iter().for_each(|values| values.extend_from_slice(numbers));
        Ok(())
    }

    #[cfg(feature = "parquet")]
    /// The same for cells that are keys of finite values, [`NO_KEY`] where one is missing. They stay keys as long as all are.
    pub(super) fn push_keyed(&mut self, values: &Arc<[f64]>, keys: &[u32]) {
        if matches!(&self.store, Store::Numbers(cells) if cells.is_empty()) {
            self.store = Store::Keyed(Keyed::default());
        }
        match &mut self.store {
            Store::Keyed(keyed) => keyed.push(values, keys),
            _ => self.numbers_mut().into_iter().for_each(|cells| cells.extend(cells_of(values, keys))),
        }
    }

    /// Remembers that an integer above 2^53 was rounded.
    pub(super) fn note_large(&mut self, place: Place, value: &[u8], context: &Context<'_>) {
        self.seen.large.get_or_insert_with(|| context.spot(place, value));
    }

    /// A cell of a numeric column.
    #[inline]
    fn push_parsed(&mut self, cell: Cell<'_>, place: Place, context: &Context<'_>) -> Result<()> {
        let Some(values) = self.numbers_mut() else { return Ok(()) };
        match context.number(cell.bytes()) {
            Number::Finite(x) if x.abs() < number::LARGE && !context.numbers_may_be_missing => {
                values.push(x);
                Ok(())
            }
            parsed => self.push_unusual(parsed, cell.bytes(), place, context),
        }
    }

    /// A cell of a numeric column that may be missing, large or no number.
    #[cold]
    fn push_unusual(
        &mut self,
        parsed: Number,
        text: &[u8],
        place: Place,
        context: &Context<'_>,
    ) -> Result<()> {
        let Store::Numbers(values) = &mut self.store else { return Ok(()) };
        match parsed {
            _ if context.is_missing(text) => values.push(f64::NAN),
            Number::Finite(x) => {
                values.push(x);
                if number::is_large_integer(text, x) {
                    self.note_large(place, text, context);
                }
            }
            Number::Infinite => return Err(infinite(&context.spot(place, text), &self.name)),
            Number::No => match (context.comma_number(text), &self.role) {
                (Some(x), _) => {
                    values.push(x);
                    let Seen { comma, thousands, n_comma_fractions, .. } = &mut self.seen;
                    let kind = if number::is_thousands(text) { thousands } else { comma };
                    kind.get_or_insert_with(|| context.spot(place, text));
                    *n_comma_fractions += usize::from(x.fract() != 0.0);
                }
                (None, Role::Numeric(hint)) => {
                    return Err(context.cell(place, &self.name, text, "is not a number", hint));
                }
                _ => return Err(self.too_many_categories(text, place, context)),
            },
        }
        Ok(())
    }

    /// A text of a coded column that did not occur before.
    #[cold]
    fn push_new(&mut self, cell: Cell<'_>, place: Place, context: &Context<'_>) -> Result<()> {
        let Store::Coded(coded) = &mut self.store else { return Ok(()) };
        let text = cell.bytes();
        if context.is_missing(text) {
            coded.dictionary.insert(cell, Codes::MISSING_U16);
            coded.push(Codes::MISSING_U16);
            return Ok(());
        }
        if std::str::from_utf8(text).is_err() {
            let hint = "save the file as UTF-8 (for example with `iconv -t utf-8`)";
            return Err(context.cell(place, &self.name, text, "is not valid UTF-8", hint));
        }
        if let Role::Declared(_) = self.role {
            let hint = "add it to the declared list, or write `?` if the value is not known";
            return Err(context.cell(place, &self.name, text, "is not one of the declared values", hint));
        }
        self.push_category(cell, place, context)
    }

    fn push_category(&mut self, cell: Cell<'_>, place: Place, context: &Context<'_>) -> Result<()> {
        let Store::Coded(coded) = &mut self.store else { return Ok(()) };
        let text = cell.bytes();
        let parsed = context.number(text);
        let first = || context.spot(place, text);
        let mut x = f64::NAN;
        match parsed {
            Number::Finite(value) => {
                x = value;
                if number::is_large_integer(text, value) {
                    self.seen.large.get_or_insert_with(first);
                }
            }
            Number::Infinite => drop(self.seen.infinite.get_or_insert_with(first)),
            Number::No => {
                self.seen.n_texts += 1;
                self.seen.text.get_or_insert_with(first);
            }
        }
        if coded.numbers.len() < Codes::MAX_CATEGORIES {
            coded.add(cell, x);
            coded.push(coded.numbers.len() as u16 - 1);
            return Ok(());
        }
        if self.role != Role::Infer || self.seen.n_texts > 0 {
            return Err(self.too_many_categories(text, place, context));
        }
        if let Some(spot) = &self.seen.infinite {
            return Err(infinite(spot, &self.name));
        }
        let mut values = coded.values();
        values.push(x);
        self.store = Store::Numbers(values);
        Ok(())
    }

    fn too_many_categories(&self, text: &[u8], place: Place, context: &Context<'_>) -> Error {
        let hint = match context.comma_number(text) {
            Some(_) => WHICH_COMMA,
            None => {
                "leave the column out with `--ignore`; if it holds numbers, correct this cell or name the \
                 text with `--na`"
            }
        };
        let problem = match self.role {
            Role::Categorical => "is category number 65536, and 65535 is the limit",
            _ => "makes the column categorical, with more than 65535 categories",
        };
        context.cell(place, &self.name, text, problem, hint)
    }

    /// Whether its numbers have commas that can mark nothing but decimals, which then holds for the whole file.
    /// `free_commas`: no comma parts cells.
    pub(super) fn has_decimal_commas(&self, free_commas: bool) -> bool {
        match &self.store {
            Store::Nothing => false,
            Store::Numbers(_) | Store::Keyed(_) => self.seen.comma.is_some(),
            Store::Coded(coded) => {
                free_commas
                    && self.may_have_commas()
                    && coded.comma_values().is_some_and(|(_, is_clear)| is_clear)
            }
        }
    }

    /// Whether the type is open and some texts are no numbers with points.
    fn may_have_commas(&self) -> bool {
        self.role == Role::Infer && self.seen.n_texts > 0 && self.seen.infinite.is_none()
    }

    /// The typed column; `None` if it was skipped. `decimal_commas`: what commas in numbers are has been decided.
    pub(super) fn finish(
        self,
        decimal_commas: bool,
        is_one_file: bool,
        notes: &mut Vec<Note>,
    ) -> Result<Option<Column>> {
        let open = self.may_have_commas() && decimal_commas;
        let ColumnBuilder { name, role, store, mut seen } = self;
        let column = match store {
            Store::Nothing => return Ok(None),
            Store::Numbers(mut values) => {
                seen.check_commas(|| fractions(&values), decimal_commas, &name)?;
                values.shrink_to_fit();
                Column::numeric(name, values)
            }
            Store::Keyed(keyed) => {
                seen.check_commas(|| keyed.n_fractions(), decimal_commas, &name)?;
                Column::keyed(name, keyed)
            }
            Store::Coded(coded) => {
                let inferred = role == Role::Infer && seen.n_texts == 0;
                if let Some(spot) = seen.infinite.as_ref().filter(|_| inferred) {
                    return Err(infinite(spot, &name));
                }
                if inferred {
                    Column::numeric(name, coded.values())
                } else if let Some((values, _)) = open.then(|| coded.comma_values()).flatten() {
                    seen.comma = seen.text.take();
                    Column::numeric(name, values)
                } else {
                    coded.categorical(name, &role, &seen, is_one_file, notes)
                }
            }
        };
        add_notes(&column, &role, seen, is_one_file, notes);
        Ok(Some(column))
    }
}

/// What to do about a cell such as `1,234`.
const WHICH_COMMA: &str = "if the comma marks decimals, say so with `--decimal ,`; else write numbers without marks between thousands";

impl Seen {
    /// Refuses commas that may part thousands unless other cells of the file decide what they are, and numbers of which some
    /// have decimal commas and others points.
    fn check_commas(
        &self,
        n_fractions: impl FnOnce() -> usize,
        decimal_commas: bool,
        name: &str,
    ) -> Result<()> {
        let Some(spot) = self.comma.as_ref().or(self.thousands.as_ref()) else { return Ok(()) };
        if !decimal_commas {
            return Err(spot.error(name, "is not a number", WHICH_COMMA));
        }
        if self.n_fractions + n_fractions() > self.n_comma_fractions {
            let problem = "has a decimal comma where other cells have decimal points";
            return Err(spot.error(name, problem, "give all numbers one decimal mark"));
        }
        Ok(())
    }
}

/// How many are no whole numbers.
fn fractions(values: &[f64]) -> usize {
    values.iter().filter(|x| !x.is_nan() && x.fract() != 0.0).count()
}

fn infinite(spot: &Spot, column: &str) -> Error {
    let hint = "replace the cell by a finite number or leave it empty; `--categorical` reads the column as \
                texts, `--ignore` leaves it out";
    spot.error(column, "is not a finite number", hint)
}

fn add_notes(column: &Column, role: &Role, seen: Seen, is_one_file: bool, notes: &mut Vec<Note>) {
    if column.n_missing() == column.len() {
        notes.push(Note::AllMissing { column: column.name().into() });
    }
    let Some(numeric) = column.as_numeric() else { return };
    if seen.comma.as_ref().or(seen.thousands.as_ref()).is_some() {
        let name = column.name().to_string();
        match notes.iter_mut().find_map(|note| match note {
            Note::DecimalCommas { columns } => Some(columns),
            _ => None,
        }) {
            Some(columns) => columns.push(name),
            None => notes.push(Note::DecimalCommas { columns: vec![name] }),
        }
    }
    if let Some(Spot { file, place, value }) = seen.large {
        let file = (!is_one_file).then_some(file);
        notes.push(Note::LargeInteger { column: column.name().into(), file, place, value });
    }
    let few = match numeric.as_keyed() {
        Some(keyed) => few_integers(keyed.cells()),
        None => few_integers(numeric.with_nan().iter().copied()),
    };
    let few = few.filter(|_| role.is_open());
    if let Some(n) = few {
        let entry = (column.name().to_string(), n);
        match notes.iter_mut().find_map(|note| match note {
            Note::IntegerCodes { columns } => Some(columns),
            _ => None,
        }) {
            Some(columns) => columns.push(entry),
            None => notes.push(Note::IntegerCodes { columns: vec![entry] }),
        }
    }
}

/// Number of distinct values, if there are 2 to 10 and all are integers.
fn few_integers(cells: impl Iterator<Item = f64>) -> Option<usize> {
    let mut distinct: Vec<f64> = Vec::new();
    for x in cells.filter(|x| !x.is_nan()) {
        if !distinct.contains(&x) {
            distinct.push(x);
            if distinct.len() > 10 || x.fract() != 0.0 {
                return None;
            }
        }
    }
    (distinct.len() > 1).then_some(distinct.len())
}

impl Coded {
    fn new() -> Self {
        Coded { dictionary: Dictionary::new(), codes: Codes::U8(Vec::new()), numbers: Vec::new() }
    }

    /// Adds a category with the next code.
    fn add(&mut self, cell: Cell<'_>, number: f64) {
        self.dictionary.insert(cell, self.numbers.len() as u16);
        self.numbers.push(number);
        if let Codes::U8(narrow) = &self.codes
            && self.numbers.len() > usize::from(Codes::MISSING_U8)
        {
            let wide = |&c: &u8| if c == Codes::MISSING_U8 { Codes::MISSING_U16 } else { u16::from(c) };
            self.codes = Codes::U16(narrow.iter().map(wide).collect());
        }
    }

    /// Adds a cell; [`Codes::MISSING_U16`] is a missing one, also in a narrow column.
    #[inline]
    fn push(&mut self, code: u16) {
        match &mut self.codes {
            Codes::U8(codes) => codes.push(code as u8), // 65535 becomes 255, the narrow missing code
            Codes::U16(codes) => codes.push(code),
        }
    }

    /// The cells as numbers.
    fn values(&self) -> Vec<f64> {
        self.codes.iter().map(|code| code.map_or(f64::NAN, |c| self.numbers[c])).collect()
    }

    /// The cells as numbers with decimal commas, if each is one, and whether a comma can be nothing else.
    fn comma_values(&self) -> Option<(Vec<f64>, bool)> {
        let texts = self.dictionary.by_code().into_iter().take(self.numbers.len());
        let mut is_clear = false;
        let number = |(_, text): (u16, String)| {
            is_clear |= text.contains(',') && !number::is_thousands(text.as_bytes());
            match number::parse_comma(text.as_bytes()) {
                Number::Finite(x) => Some(x),
                _ => None,
            }
        };
        let numbers = texts.map(number).collect::<Option<Vec<f64>>>()?;
        let value = |code: Option<usize>| code.map_or(f64::NAN, |c| numbers[c]);
        Some((self.codes.iter().map(value).collect(), is_clear))
    }

    fn categorical(
        self,
        name: String,
        role: &Role,
        seen: &Seen,
        is_one_file: bool,
        notes: &mut Vec<Note>,
    ) -> Column {
        let n_numbers = self.numbers.iter().filter(|x| !x.is_nan()).count();
        if let Some(Spot { file, place, value }) = seen.text.clone()
            && *role == Role::Infer
            && n_numbers >= 10 * seen.n_texts
        {
            let file = (!is_one_file).then_some(file);
            notes.push(Note::MostlyNumbers { column: name.clone(), file, place, value });
        }
        let Coded { dictionary, codes, numbers } = self;
        // Missing tokens have the largest code, so they stand behind the categories.
        let texts = dictionary.by_code().into_iter().take(numbers.len());
        let names: Vec<String> = texts.map(|(_, text)| text).collect();
        if let Role::Declared(_) = role {
            return Column::categorical(name, names, codes);
        }
        let mut ordered = names.clone();
        category_order(&mut ordered);
        let codes = codes.recode(&names, &ordered);
        Column::categorical(name, ordered, codes)
    }
}
