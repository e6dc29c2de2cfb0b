/**
 * How long tests wait for what happens within a few seconds on an idle machine, in milliseconds. It is against a hang,
 * and no promise of speed: a machine may be several times slower at any moment, and a test that fails then proves nothing.
 */
export const PATIENCE_MS = 60_000
