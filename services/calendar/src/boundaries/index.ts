export { type BoundariesOptions, tellBoundaries } from './boundaries.ts'
export { ZoneData, type ZoneDataOptions } from './zone-data.ts'
