export { type BoundariesOptions, tellBoundaries } from './boundaries.ts'
