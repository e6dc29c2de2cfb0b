import { type Component, type Property, parameterOf, propertiesOf, propertyOf, valuesOf } from './jcal.ts'
import type { ReadPeriod, ReadTime } from './read-file.ts'
import { UnreadableError } from './unreadable-error.ts'
import { zoneOf } from './zones.ts'

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(Z?)$/
const DAY = /^\d{4}-\d\d-\d\d$/

/** Reads the times of the components of one file. */
export class TimeReader {
  readonly #timezones: readonly Component[]

  constructor(timezones: readonly Component[]) {
    this.#timezones = timezones
  }

  /** @throws UnreadableError for a time that is none, and for an unknown zone. */
  one(component: Component, name: string): ReadTime | undefined {
    const property = propertyOf(component, name)
    return property && this.#time(property, property[3])
  }

  all(component: Component, name: string): ReadTime[] {
    return propertiesOf(component, name).flatMap((property) =>
      valuesOf(property).map((value) => this.#time(property, value)),
    )
  }

  /** RDATE: times, or periods. */
  added(component: Component): (ReadTime | ReadPeriod)[] {
    return propertiesOf(component, 'rdate').flatMap((property) =>
      valuesOf(property).map((value) => {
        if (!Array.isArray(value)) return this.#time(property, value)
        const [from, to]: unknown[] = value
        const start = this.#time(property, from)
        if (typeof to !== 'string') throw new UnreadableError('invalid_event')
        return to.startsWith('P') ? { start, duration: to } : { start, end: this.#time(property, to) }
      }),
    )
  }

  #time(property: Property, value: unknown): ReadTime {
    if (typeof value !== 'string') throw new UnreadableError('invalid_event')
    if (DAY.test(value)) return { wall: value, zone: undefined }
    const [, wall, utc] = TIME.exec(value) ?? []
    if (wall === undefined) throw new UnreadableError('invalid_event')
    if (utc === 'Z') return { wall, zone: 'UTC' }
    const tzid = parameterOf(property, 'tzid')
    if (tzid === undefined) return { wall, zone: undefined }
    const zone = zoneOf(tzid, this.#timezones)
    if (zone === undefined) throw new UnreadableError('unknown_zone')
    return { wall, zone }
  }
}
