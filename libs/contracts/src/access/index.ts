export * from './caller.ts'
export * from './event-types.ts'
export * from './permissions.ts'
export * from './send-limits.ts'
