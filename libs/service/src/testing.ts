/** What test suites of several packages use; no service imports it. */
export { Wire } from './testing/wire.ts'
