//! The program as a user meets it: whole output of good and bad runs, exit codes, files, signals.

mod awkward;
mod bad;
mod batches;
mod explore;
mod good;
mod interrupt;
mod limits;
mod models;
mod network;
mod newcomer;
mod outputs;
mod support;
mod threads;
mod warnings;
