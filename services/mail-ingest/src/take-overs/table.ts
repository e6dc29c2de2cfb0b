import { TakeOverTable } from '@restante/tenancy'

/**
 * The confirmed take-overs that this service has heard of. They are kept as long as their organizations: a copy of what an
 * earlier key sent may be placed however late.
 */
export const takeOvers = new TakeOverTable()
