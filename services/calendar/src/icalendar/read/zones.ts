import { isZoneName } from '@restante/recurrence'
import windowsZones from 'windows-iana'
import type { Component } from './jcal.ts'
import { textOf } from './jcal.ts'

/** Where Microsoft writes a zone as an address. */
const MICROSOFT_UTC = /^tzone:\/\/microsoft\/utc$/i

/**
 * The zone of the IANA database that a TZID names (calendar 15): by its name, at the end of a path as some programs write it,
 * by its name in Windows, or by the place that its VTIMEZONE names. Offsets of a VTIMEZONE do not tell a place: they are
 * not looked at, because a zone could be told from them only by guessing.
 */
export function zoneOf(tzid: string, timezones: readonly Component[]): string | undefined {
  const found = named(tzid)
  if (found !== undefined) return found
  const definition = timezones.find((timezone) => textOf(timezone, 'tzid') === tzid)
  const location = definition && textOf(definition, 'x-lic-location')
  return location === undefined ? undefined : named(location)
}

function named(given: string): string | undefined {
  const name = given.trim()
  if (name.length > 200) return undefined
  if (isZoneName(name)) return name
  if (MICROSOFT_UTC.test(name)) return 'UTC'
  const windows = windowsZones.findIana(name as Parameters<typeof windowsZones.findIana>[0])
  const [first] = windows ?? []
  if (first !== undefined && isZoneName(first)) return first
  const segments = name.split('/')
  for (let from = 1; from < segments.length; from++) {
    const suffix = segments.slice(from).join('/')
    // A single last segment may be any word, as in `/program/EST`.
    if (segments.length - from > 1 && isZoneName(suffix)) return suffix
  }
  return undefined
}
