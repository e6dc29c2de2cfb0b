import { TakeOverTable } from '@restante/tenancy'

/** The confirmed take-overs that this service has heard of. */
export const takeOvers = new TakeOverTable()
