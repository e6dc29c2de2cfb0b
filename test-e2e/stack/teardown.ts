import { endRun } from './run.ts'

/** Once per run of jest, after its workers. */
export default endRun
