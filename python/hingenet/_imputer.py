"""Missing cells completed by a network, as a step of a pipeline."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from ._bayes_net import BayesNetClassifier
from ._docs import documented


@documented
class NetworkImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Complete missing cells of mixed columns by what the known ones of their row say.

    A generative classifier learns how the columns depend on the class and on each other. A missing number becomes its mean given
    the known cells of the row, a missing category the most probable one, the class being unknown. Hingenet's classifiers need
    none of this: they sum missing features out.

    Parameters
    ----------
    estimator : BayesNetClassifier or GaussianNetworkClassifier, default=None
        The classifier; None is ``BayesNetClassifier("tan", "ml")``, for categories and mixed columns. For numbers
        ``GaussianNetworkClassifier()`` is the better choice.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.
    {fitted}

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from hingenet import GaussianNetworkClassifier, NetworkImputer
    >>> X, y = load_iris(return_X_y=True)
    >>> imputer = NetworkImputer(GaussianNetworkClassifier()).fit(X, y)
    >>> imputer.transform([[5.1, 3.5, 1.4, np.nan]]).round(1)
    array([[5.1, 3.5, 1.4, 0.2]])
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        {training}
        """
        estimator = BayesNetClassifier("tan", "ml") if self.estimator is None else clone(self.estimator)
        self.estimator_ = estimator.fit(X, y, sample_weight=sample_weight)
        self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        return self

    def transform(self, X: Any) -> Any:
        """The rows with their missing cells completed.

        {rows}

        Returns
        -------
        completed : ndarray, or data frame if `X` is one
            The features without missing cells.
        """
        check_is_fitted(self)
        return self.estimator_.impute(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags
