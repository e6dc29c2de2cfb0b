export * from './body-bound.ts'
export * from './structure.ts'
export * from './validate.ts'
