//! Models as flat arrays that a page evaluates without this program. The evaluators stand in `hingenet-view`
//! (`explorer/engine`), one for each kind of program; numbers go as base64 of little-endian `f64`, `f32` and `i32`.

mod density;
mod discrete;
mod gaussian;

use super::Explorer;
use crate::model::Fitted;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hingenet_base::error::Result;
use serde_json::Value;

/// Most bytes of a program: what a page can carry and evaluate at every click. Beyond, the model must be served.
const MOST_BYTES: usize = 8 << 20;

impl Explorer<'_> {
    /// The model as flat arrays that a page evaluates without this program; `None` where there is no such form, or where it
    /// is beyond 8 MB.
    pub fn program(&self) -> Result<Option<Value>> {
        let program = match &self.model.fitted {
            Fitted::Discrete(m) => discrete::program(std::slice::from_ref(m.network()), m.temperature()),
            Fitted::Averaged(m) => discrete::program(&m.network().networks()?, m.temperature()),
            Fitted::Gaussian(m) => gaussian::program(m, &self.cards),
            Fitted::Density(m) => Some(density::program(m, &self.cards)?),
            _ => None,
        };
        Ok(program.filter(|program| program.to_string().len() <= MOST_BYTES))
    }
}

/// Little-endian numbers of eight bytes.
fn floats(values: &[f64]) -> String {
    STANDARD.encode(values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

/// Little-endian numbers of four bytes, for values that are no longer than that.
fn singles(values: &[f64]) -> String {
    STANDARD.encode(values.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect::<Vec<u8>>())
}

/// Little-endian whole numbers of four bytes. Positions and sizes here are far below 2^31; a larger one becomes -1.
fn wholes(values: impl IntoIterator<Item = usize>) -> String {
    let bytes = |v: usize| i32::try_from(v).unwrap_or(-1).to_le_bytes();
    STANDARD.encode(values.into_iter().flat_map(bytes).collect::<Vec<u8>>())
}

/// A list with its length before it.
fn counted(list: &[usize]) -> impl Iterator<Item = usize> {
    std::iter::once(list.len()).chain(list.iter().copied())
}
