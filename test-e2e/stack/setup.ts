import { beginRun } from './run.ts'

/** Once per run of jest, before its workers. */
export default beginRun
