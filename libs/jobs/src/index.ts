export type { AttemptContext, WorkOptions } from './attempt.ts'
export { AttemptsExhausted, LeaseLost } from './errors.ts'
export type { ScheduledTimer, Timer, TimerDatabase } from './timer.ts'
export { Timers, type TimersOptions } from './timers.ts'
