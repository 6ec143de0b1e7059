//! A builder for each family: a constructor for each way of learning, a setter for each option. The setters come from
//! the declarations of the options, so a builder knows what `name,key=value` knows, and [`ModelSpec`] checks both.

use super::density::{density_setters, machine_setters};
use super::discrete::{
    averaged_setters, dag_setters, margin_setters, rule_setters, table_setters, tan_setters,
};
use super::gaussian::gaussian_setters;
use super::options::option;
use super::pool::pool_setters;
use super::{Dataset, FitOptions, Model, ModelSpec, fit};
use hingenet_base::control::Control;
use hingenet_base::error::Result;

/// Writes a builder: its constructors with the names of their models, and the groups of setters it has.
macro_rules! builder {
    ($(#[$doc:meta])* $builder:ident { $($rule:ident => $model:literal),+ $(,)? } $($setters:ident)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $builder {
            model: String,
            options: Vec<(&'static str, String)>,
            seed: u64,
        }

        impl $builder {
            $(
                #[doc = concat!("The model `", $model, "`.")]
                #[allow(clippy::new_without_default)]
                pub fn $rule() -> Self {
                    $builder { model: $model.into(), options: Vec::new(), seed: 0 }
                }
            )+

            $($setters!();)*

            fn set(mut self, key: &'static str, value: impl ToString) -> Self {
                self.options.retain(|(set, _)| *set != key);
                self.options.push((key, value.to_string()));
                self
            }

            /// Seed of every random choice; 0 if it is not set.
            pub fn seed(mut self, seed: u64) -> Self {
                self.seed = seed;
                self
            }

            /// The model with its options, checked.
            pub fn spec(&self) -> Result<ModelSpec> {
                let mut spec = ModelSpec::new(&self.model)?;
                self.options.iter().try_for_each(|(key, value)| spec.set(key, value))?;
                Ok(spec)
            }

            /// Checks the options and fits the model.
            pub fn fit(&self, data: &Dataset) -> Result<Model> {
                self.fit_with(data, &Control::default())
            }

            /// The same, watched and stopped through a control.
            pub fn fit_with(&self, data: &Dataset, control: &Control) -> Result<Model> {
                let options = FitOptions { seed: self.seed, ..FitOptions::default() };
                fit(&self.spec()?, data, options, control)
            }
        }
    };
}

builder! {
    /// Naive Bayes: features independent given the class.
    ///
    /// ```
    /// use hingenet::evaluate::generate;
    /// use hingenet::{Dataset, NaiveBayes};
    /// let data = Dataset::new(generate("corral", Some(200), 1)?, "class", None)?;
    /// let model = NaiveBayes::ml().alpha(0.5).fit(&data)?;
    /// assert_eq!(model.spec.to_string(), "nb:ml,alpha=0.5");
    /// # Ok::<(), hingenet::Error>(())
    /// ```
    NaiveBayes {
        ml => "nb:ml", mcl => "nb:mcl", mm => "nb:mm", bn_svm => "nb:bn-svm", ml_bn_svm => "nb:ml-bn-svm",
    }
    table_setters margin_setters rule_setters
}

builder! {
    /// Tree-augmented naive Bayes: each feature sees the class and one other feature.
    ///
    /// ```
    /// use hingenet::evaluate::generate;
    /// use hingenet::{Dataset, Tan};
    /// let data = Dataset::new(generate("corral", Some(200), 1)?, "class", None)?;
    /// let model = Tan::ml_bn_svm().lambda(4.0).gamma(5.0).fit(&data)?;
    /// assert!(model.is_generative());
    /// // What is out of range is refused before any work.
    /// assert!(Tan::ml_bn_svm().lambda(f64::NAN).fit(&data).is_err());
    /// # Ok::<(), hingenet::Error>(())
    /// ```
    Tan {
        ml => "tan:ml", mcl => "tan:mcl", mm => "tan:mm", bn_svm => "tan:bn-svm", ml_bn_svm => "tan:ml-bn-svm",
    }
    table_setters margin_setters rule_setters tan_setters
}

builder! {
    /// k-trees: each feature sees the class and up to k other features; k is 2 unless [`KTree::parents`] says else.
    KTree {
        ml => "kdb2:ml", mcl => "kdb2:mcl", mm => "kdb2:mm", bn_svm => "kdb2:bn-svm",
        ml_bn_svm => "kdb2:ml-bn-svm",
    }
    table_setters margin_setters rule_setters
}

impl KTree {
    /// Number k of other features that a feature may see, from 1 to 4.
    pub fn parents(mut self, k: usize) -> Self {
        let rule = self.model.split_once(':').map_or("ml", |(_, rule)| rule);
        self.model = format!("kdb{k}:{rule}");
        self
    }
}

builder! {
    /// A graph that is given, by [`Dag::edges`].
    Dag {
        ml => "dag:ml", mcl => "dag:mcl", mm => "dag:mm", bn_svm => "dag:bn-svm", ml_bn_svm => "dag:ml-bn-svm",
    }
    table_setters margin_setters rule_setters dag_setters
}

builder! {
    /// Average of networks in which all features see the class and the same feature.
    Aode { ml => "aode:ml", ml_bn_svm => "aode:ml-bn-svm" }
    table_setters margin_setters averaged_setters
}

builder! {
    /// A linear machine on log densities of features and pairs (SLB).
    LogDensity { slb => "slb", slb_all => "slb-all", lu => "lu" }
    density_setters machine_setters
}

builder! {
    /// Kernel densities multiplied: naively, along a tree for each class, or along a forest.
    KernelDensity { nb => "kde-nb", tan => "kde-tan", forest => "kde-forest" }
    density_setters
}

builder! {
    /// A sparse Gaussian network for each class, whose likelihoods decide.
    Sgbn { or => "sgbn:or", h => "sgbn:h", search => "sgbn:search", kl => "sgbn:kl", mm => "sgbn:mm" }
    gaussian_setters
}

builder! {
    /// A kernel machine on the Fisher vectors of sparse Gaussian networks.
    FisherSvm {
        or => "fisher:or", h => "fisher:h", search => "fisher:search", kl => "fisher:kl", mm => "fisher:mm",
    }
    gaussian_setters
}

builder! {
    /// The pool, the model to try first: four class posteriors weighed by the share of missing features.
    Pool { new => "pool" }
    pool_setters
}
