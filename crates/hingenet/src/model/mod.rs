//! One enum over the families, the model file, and the exchange formats. Alone knows all families.
