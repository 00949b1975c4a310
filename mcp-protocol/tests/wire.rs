//! The types against the specification: its examples, its schemas, and what it demands of
//! ids, envelopes and leniency.
//!
//! The specification is looked for in `MCP_SPEC_DIR`, else in `../shared/spec` beside the
//! workspace. Without it the tests that need it say so and pass.

mod wire {
    mod compat;
    mod envelope;
    mod examples;
    mod ids;
    mod leniency;
    mod samples;
    mod schemas;
    mod spec;
}
