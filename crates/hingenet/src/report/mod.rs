//! Results as plain data; other crates draw them.
