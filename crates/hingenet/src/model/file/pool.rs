//! The pool in a model file: choices and weights in the header, rows and matrices in sections. The kernel terms
//! keep training rows, or prototypes of them, so the file holds these.

use super::Container;
use super::store::{self, About, Stored};
use crate::model::Model;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_pool::{PoolClassifier, PoolHeader, PoolParts, TermModel};
use serde_json::Value;
use std::any::Any;
use std::sync::Arc;

/// Keys in the header of models in place of terms A and G; their sections have the same prefix.
const STAND_INS: [&str; 2] = ["term_a", "term_g"];

/// Whether a vector stands only in files of pools that keep prototypes in place of rows.
fn is_optional(name: &str) -> bool {
    name.starts_with("prototype_")
}

impl Stored for PoolClassifier {
    fn store(&self, out: &mut Container) -> Result<Value> {
        let parts = self.to_parts();
        for (name, values) in parts.doubles.iter().filter(|(name, v)| !(v.is_empty() && is_optional(name))) {
            out.put(name, values);
        }
        out.put("training_levels", &parts.levels);
        out.put("training_class", &parts.class);
        let mut header = out.put_plain(&parts.header)?;
        for (term, key) in self.term_models().into_iter().zip(STAND_INS) {
            let Some(stand_in) = term.and_then(|m| (m as &dyn Any).downcast_ref::<Model>()) else { continue };
            header[key] = out.put_all(&format!("{key}/"), store::pack(stand_in)?);
        }
        Ok(header)
    }

    fn restore(mut header: Value, from: &mut Container, about: &About) -> Result<Self> {
        let mut stand_ins: [Option<Model>; 2] = [None, None];
        for (stand_in, key) in stand_ins.iter_mut().zip(STAND_INS) {
            let about = header.as_object_mut().and_then(|fields| fields.remove(key));
            *stand_in = about.map(|about| take_stand_in(from, key, about)).transpose()?;
        }
        let header: PoolHeader = from.take_plain(header)?;
        header.check_columns(&about.schema)?;
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
        let model = PoolClassifier::from_parts(PoolParts { header, levels, class, doubles })?;
        Ok(model.with_stand_ins(stand_ins.map(|m| m.map(|m| Arc::new(m) as Arc<dyn TermModel>))))
    }
}

/// The model in place of a term. It is no pool itself.
fn take_stand_in(from: &mut Container, key: &str, about: Value) -> Result<Model> {
    if about.get("family").and_then(Value::as_str) == Some("pool") {
        return Err(Error::model_file("a term of a pool cannot be a pool"));
    }
    store::unpack(from.take_all(&format!("{key}/"), about))
}
