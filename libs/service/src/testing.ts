/** What test suites of several packages use; no service imports it. */
export { freePort } from './testing/free-port.ts'
export { PATIENCE_MS } from './testing/patience.ts'
export { growthOf, MOST_GROWTH, onThisMachine, processorMs } from './testing/processor-time.ts'
export { byLength, sampleByLength } from './testing/test-length.ts'
export { Wire } from './testing/wire.ts'
