//! The pool in a model file: choices and weights in the header, rows and matrices in sections. The kernel terms
//! keep training rows, or prototypes of them, so the file holds these.

use super::Container;
use super::store::{self, About, Stored};
use crate::model::Model;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_data::table::{Schema, Table};
use hingenet_pool::{Gain, GapParts, PoolClassifier, PoolHeader, PoolParts, TermModel, indicated};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::any::Any;
use std::sync::Arc;

/// Keys in the header of models in place of terms A and G; their sections have the same prefix.
const STAND_INS: [&str; 2] = ["term_a", "term_g"];

/// Whether a vector stands only in files of pools that keep prototypes in place of rows.
fn is_optional(name: &str) -> bool {
    name.starts_with("prototype_")
}

/// Key of the pool that reads gaps, and before the names of its sections; behind it [`BESIDE`] for those of the pool itself.
const GAPS: &str = "gaps";
const BESIDE: &str = "pool";

/// Columns whose gaps tell, and what that is worth.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GapHeader {
    columns: Vec<String>,
    gain: Gain,
}

/// The models in place of terms A and G.
type Others = [Option<Arc<dyn TermModel>>; 2];

impl Stored for PoolClassifier {
    fn store(&self, out: &mut Container) -> Result<Value> {
        let parts = self.to_parts();
        let mut header = store_parts(&parts, self, out)?;
        if let (Some(gaps), Some(reader)) = (&parts.gaps, self.reader_of_gaps()) {
            let (mut own, mut beside) = (Container::new(Value::Null), Container::new(Value::Null));
            beside.about = store_parts(&gaps.pool, reader, &mut beside)?;
            own.about = own.put_plain(&GapHeader { columns: gaps.columns.clone(), gain: gaps.gain })?;
            own.about[BESIDE] = own.put_all(&format!("{BESIDE}/"), beside);
            header[GAPS] = out.put_all(&format!("{GAPS}/"), own);
        }
        Ok(header)
    }

    fn restore(mut header: Value, from: &mut Container, about: &About) -> Result<Self> {
        let gaps = taken(&mut header, GAPS).map(|about| from.take_all(&format!("{GAPS}/"), about));
        let (mut parts, others) = restore_parts(header, from, &about.schema)?;
        let Some(mut own) = gaps else {
            return Ok(PoolClassifier::from_parts(parts)?.with_stand_ins(others));
        };
        let mut shape = std::mem::take(&mut own.about);
        let beside =
            taken(&mut shape, BESIDE).ok_or_else(|| Error::model_file("the pool of gaps is absent"))?;
        let mut beside = own.take_all(&format!("{BESIDE}/"), beside);
        let GapHeader { columns, gain } = own.take_plain(shape)?;
        let schema = with_indicators(&about.schema, &columns)?;
        let (pool, others_of_gaps) = restore_parts(std::mem::take(&mut beside.about), &mut beside, &schema)?;
        own.require_empty()?;
        beside.require_empty()?;
        parts.gaps = Some(Box::new(GapParts { columns, gain, pool }));
        let pool = PoolClassifier::from_parts(parts)?;
        Ok(pool.with_stand_ins(others).with_stand_ins_for_gaps(others_of_gaps))
    }
}

/// One pool: its vectors, its header, and the models in place of its terms.
fn store_parts(parts: &PoolParts, pool: &PoolClassifier, out: &mut Container) -> Result<Value> {
    for (name, values) in parts.doubles.iter().filter(|(name, v)| !(v.is_empty() && is_optional(name))) {
        out.put(name, values);
    }
    out.put("training_levels", &parts.levels);
    out.put("training_class", &parts.class);
    let mut header = out.put_plain(&parts.header)?;
    for (term, key) in pool.term_models().into_iter().zip(STAND_INS) {
        let Some(stand_in) = term.and_then(|m| (m as &dyn Any).downcast_ref::<Model>()) else { continue };
        header[key] = out.put_all(&format!("{key}/"), store::pack(stand_in)?);
    }
    Ok(header)
}

fn restore_parts(mut header: Value, from: &mut Container, schema: &Schema) -> Result<(PoolParts, Others)> {
    let mut stand_ins: [Option<Model>; 2] = [None, None];
    for (stand_in, key) in stand_ins.iter_mut().zip(STAND_INS) {
        *stand_in = taken(&mut header, key).map(|about| take_stand_in(from, key, about)).transpose()?;
    }
    let header: PoolHeader = from.take_plain(header)?;
    header.check_columns(schema)?;
    for stand_in in stand_ins.iter().flatten() {
        // a stand-in knows the classes that have training rows, and all columns
        require_len("classes of a term", header.present.len(), stand_in.classes.len())?;
        header.check_columns(&stand_in.schema)?;
    }
    let (levels, class) = (from.take("training_levels")?, from.take("training_class")?);
    let double = |name: &'static str| match is_optional(name) && !from.has(name) {
        true => Ok((name, Vec::new())),
        false => Ok((name, from.take(name)?)),
    };
    let doubles = PoolParts::DOUBLES.into_iter().map(double).collect::<Result<_>>()?;
    let others = stand_ins.map(|m| m.map(|m| Arc::new(m) as Arc<dyn TermModel>));
    Ok((PoolParts { header, levels, class, doubles, gaps: None }, others))
}

/// A field of an object, taken out.
fn taken(header: &mut Value, key: &str) -> Option<Value> {
    header.as_object_mut().and_then(|fields| fields.remove(key))
}

/// The columns with the indicators of gaps behind them.
fn with_indicators(schema: &Schema, columns: &[String]) -> Result<Schema> {
    let none = Table::new(schema.features.iter().map(|f| f.all_missing(0)).collect())?;
    let position = |name: &String| {
        none.position(name).ok_or_else(|| Error::model_file(format!("gaps of `{name}`, which is no column")))
    };
    let columns = columns.iter().map(position).collect::<Result<Vec<_>>>()?;
    Ok(Schema::of(&indicated(&none, &columns)?))
}

/// The model in place of a term. It is no pool itself.
fn take_stand_in(from: &mut Container, key: &str, about: Value) -> Result<Model> {
    if about.get("family").and_then(Value::as_str) == Some("pool") {
        return Err(Error::model_file("a term of a pool cannot be a pool"));
    }
    store::unpack(from.take_all(&format!("{key}/"), about))
}
