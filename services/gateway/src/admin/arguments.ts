import { InvalidArgumentError } from '@commander-js/extra-typings'
import { apiKeyName, instantInput, operations, validate } from '@restante/contracts'

/** A limit: a whole number, or `none`, which stays a word because an option's value cannot be null. */
export function limit(text: string): number | 'none' {
  return text === 'none' ? text : count(text)
}

export function limitOrNull(given: number | 'none' | undefined): number | null | undefined {
  return given === 'none' ? null : given
}

export function count(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

/** As strict as the API: what a lenient reader makes of `12` or of a 30 February is not what anybody meant. */
export function moment(text: string): Date {
  const at = instantInput.safeParse(text)
  if (at.success) return at.data
  throw new InvalidArgumentError('It must be a date and time with a zone, such as 2027-01-31T12:00:00Z.')
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A moment, or how long ago it was: `90m`, `12h`, `7d`. */
export function past(text: string): Date {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const milliseconds = unit === undefined ? undefined : UNITS[unit]
  return milliseconds === undefined ? moment(text) : new Date(Date.now() - Number(number) * milliseconds)
}

/** What a key is called, under the rules of the API. */
export function keyName(text: string): string {
  const name = validate(apiKeyName, text)
  if (name.ok) return name.value
  throw new InvalidArgumentError(`${name.errors.map(({ message }) => message).join('; ')}.`)
}

export function names(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

const address = operations['agent.human'].body.shape.human_email

export function human(text: string): string {
  const { success, data } = address.safeParse(text)
  if (success) return data
  throw new InvalidArgumentError('It must be one e-mail address.')
}

/** An address, or `none`. */
export function humanOrNone(text: string): string | null {
  return text === 'none' ? null : human(text)
}
