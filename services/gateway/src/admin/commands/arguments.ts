import { domainToASCII } from 'node:url'
import { InvalidArgumentError } from '@commander-js/extra-typings'
import { parseSendLimit, type SendLimit } from '@restante/contracts/access'
import { apiKeyName, operations } from '@restante/contracts/operations'
import { instantInput } from '@restante/contracts/schemas'
import { validate } from '@restante/contracts/validation'
import { isUuid } from '@restante/contracts/vocabulary'
import { parseDuration } from '@restante/service/configuration'

/** Option of every command whose output scripts may want to read. */
export const JSON_OPTION = ['--json', 'one JSON document a line, for scripts'] as const

/** Parses a limit: a whole number, or `none`, which stays a word because an option's value cannot be null. */
export function limit(text: string): number | 'none' {
  return text === 'none' ? text : count(text)
}

export function limitOrNull(given: number | 'none' | undefined): number | null | undefined {
  return given === 'none' ? null : given
}

/** Parses limits of sends: `100/h,1000/d`, `none`, or `default` for those of the installation, a word as in `limit`. */
export function sendLimits(text: string): SendLimit[] | 'default' {
  if (text === 'default') return text
  if (text === 'none') return []
  return text.split(',').map((word) => {
    const parsed = parseSendLimit(word.trim())
    if (parsed) return parsed
    throw new InvalidArgumentError('It must be limits such as 100/h,1000/d,10000/30d, or none, or default.')
  })
}

export function count(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

/** As strict as the API: a lenient parser would accept `12` or a 30 February. */
export function moment(text: string): Date {
  const at = instantInput.safeParse(text)
  if (at.success) return at.data
  throw new InvalidArgumentError('It must be a date and time with a zone, such as 2027-01-31T12:00:00Z.')
}

/** Parses a time, or an age: `90m`, `12h`, `7d`. */
export function past(text: string): Date {
  const ago = parseDuration(text)
  // An age that leads to no representable time is refused like an invalid time.
  return ago === undefined || ago > Date.now() ? moment(text) : new Date(Date.now() - ago)
}

/** Parses the name of a key, under the rules of the API. */
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

/** Parses a domain into the form in which domains are compared: lower case, A-labels. */
export function domainName(text: string): string {
  const domain = domainToASCII(text)
  if (domain !== '' && !/[^a-z0-9.-]/.test(domain)) return domain
  throw new InvalidArgumentError('It must be a domain.')
}

export function organizationId(text: string): string {
  if (isUuid(text)) return text.toLowerCase()
  throw new InvalidArgumentError('It must be an id (a UUID).')
}

const address = operations['agent.human'].body.shape.human_email

export function human(text: string): string {
  const { success, data } = address.safeParse(text)
  if (success) return data
  throw new InvalidArgumentError('It must be one e-mail address.')
}

/** Parses the name of a human, one line. */
export function humanName(text: string): string {
  const name = validate(apiKeyName, text)
  if (name.ok) return name.value
  throw new InvalidArgumentError(`${name.errors.map(({ message }) => message).join('; ')}.`)
}

/** An address, or `none`. */
export function humanOrNone(text: string): string | null {
  return text === 'none' ? null : human(text)
}
