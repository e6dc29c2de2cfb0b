import { domainToASCII } from 'node:url'
import { bareAddress } from './mailboxes.ts'

/** A mailbox as given by a caller. */
export interface Address {
  readonly name?: string
  readonly address: string
}

export type AddressResult =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly problem: string }

export type AddressesResult =
  | { readonly ok: true; readonly addresses: readonly Address[] }
  | { readonly ok: false; readonly errors: readonly { readonly index: number; readonly message: string }[] }

const MAX_INPUT = 1_000
const MAX_LOCAL = 64
const MAX_ADDRESS = 254
const MAX_LABEL = 63

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are refused
const CONTROL = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~\-\u00a1-\u{10ffff}]+(?:\.[\w!#$%&'*+/=?^`{|}~\-\u00a1-\u{10ffff}]+)*$/u
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i

/** Whether text holds a character that could end a header line or hide in one. */
export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text)
}

/**
 * Whether a bare address can be mailed to: a dot-atom (RFC 5322 3.4.1, RFC 6531) of at most 64 octets, a domain name
 * with at least two labels (IDN allowed), 254 octets in all. Quoted local parts and address literals are refused.
 */
export function isValidAddress(address: string): boolean {
  const at = address.lastIndexOf('@')
  if (at < 1 || address.length > MAX_ADDRESS || CONTROL.test(address)) return false
  const local = address.slice(0, at)
  const domain = asciiDomain(address.slice(at + 1))
  if (Buffer.byteLength(local) > MAX_LOCAL || Buffer.byteLength(local) + 1 + domain.length > MAX_ADDRESS) return false
  const labels = domain.split('.')
  const last = labels.at(-1) ?? ''
  return (
    LOCAL.test(local) &&
    labels.length > 1 &&
    !/^\d+$/.test(last) &&
    labels.every((label) => label.length <= MAX_LABEL && LABEL.test(label))
  )
}

/** One address of API input, bare or `Name <address>` (mail 2). */
export function parseAddress(input: string): AddressResult {
  if (CONTROL.test(input)) return problem('An address cannot contain control characters')
  if (input.length > MAX_INPUT) return problem(`An address has at most ${MAX_INPUT} characters`)
  const text = input.trim()
  const open = text.endsWith('>') ? text.lastIndexOf('<') : -1
  const address = open < 0 ? text : text.slice(open + 1, -1).trim()
  if (!isValidAddress(address))
    return problem('Expected an address such as user@example.com or Name <user@example.com>')
  const name = open < 0 ? '' : readName(text.slice(0, open).trim())
  if (name === undefined) return problem('A display name with any of , ; < > or " in it has to be quoted')
  return { ok: true, address: name === '' ? { address } : { name, address } }
}

/** A list of API input; `index` says which entries are wrong, for `path: ["to", index]`. */
export function parseAddresses(inputs: readonly string[]): AddressesResult {
  const addresses: Address[] = []
  const errors: { index: number; message: string }[] = []
  for (const [index, input] of inputs.entries()) {
    const result = parseAddress(input)
    if (result.ok) addresses.push(result.address)
    else errors.push({ index, message: result.problem })
  }
  return errors.length === 0 ? { ok: true, addresses } : { ok: false, errors }
}

/** The form in which a bare address is compared: lower case, composed characters, the domain in ASCII (mail 2). */
export function normalizeAddress(address: string): string {
  // Composed last, because lower case may have a composed form where upper case has none.
  const text = address.trim().toLowerCase().normalize('NFC')
  const at = text.lastIndexOf('@')
  return at < 0 ? text : `${text.slice(0, at)}@${asciiDomain(text.slice(at + 1))}`
}

/** Whether two addresses, with or without display names, are the same: case-insensitive, no plus or dot folding (mail 2). */
export function sameAddress(a: string, b: string): boolean {
  return normalizeAddress(bareAddress(a)) === normalizeAddress(bareAddress(b))
}

/** A domain with its labels in ASCII (IDNA); unchanged when it cannot be converted. */
export function asciiDomain(domain: string): string {
  // Other parts of a URL would be dropped, and escapes decoded.
  if (/[/?#\\:@%[\]\s]/.test(domain)) return domain
  // Only for names that need it: for others the URL rules would turn `1` into `0.0.0.1`.
  return /[^\p{ASCII}]/u.test(domain) ? domainToASCII(domain) || domain : domain
}

/** The display name that a phrase represents; undefined when it is ambiguous. */
function readName(phrase: string): string | undefined {
  if (!phrase.startsWith('"')) return /[,;<>"]/.test(phrase) ? undefined : phrase.replace(/\s+/g, ' ')
  const inner = /^"((?:[^"\\]|\\.)*)"$/.exec(phrase)?.[1]
  return inner?.replace(/\\(.)/g, '$1').trim()
}

function problem(text: string): AddressResult {
  return { ok: false, problem: text }
}
