export { EngineAccessError, type EngineName, explained } from './engine-error.ts'
export { type EngineTrust, engineVariables, readTrust } from './trust.ts'
