export { type Told, tellApplied, tellBoundary, tellChange } from './events.ts'
export { type PreviousValues, previousValues } from './previous.ts'
