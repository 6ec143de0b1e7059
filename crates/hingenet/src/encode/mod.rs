//! What is learnt from training columns before any model: category dictionaries, Fayyad-Irani cuts,
//! standardisation. Learnt on training rows only, applied to any rows. Knows no models.
