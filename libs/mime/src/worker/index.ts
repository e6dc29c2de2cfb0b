/** Threads that read what others wrote, which one of them may kill without harm to the process. */
export { ParserCrashedError, ParserTimeoutError, ParserUnavailableError } from './errors.ts'
export { Lane, type LaneOptions } from './lane.ts'
export { serve } from './serve.ts'
