export * from './gateway.ts'
export * from './mail.ts'
export * from './purge.ts'
export * from './table.ts'
