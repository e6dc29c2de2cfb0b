import { isUtf8 } from 'node:buffer'
import { domainToASCII } from 'node:url'
import { decodeCharset } from '../decode/charset.ts'
import type { ParseLimits } from '../limits/limits.ts'
import { isValidAddress, normalizeAddress } from './address.ts'
import { formatAddress, formatText } from './format.ts'
import { type FromField, fromFieldsOf } from './from-fields.ts'
import { phraseOf } from './mailbox.ts'
import { type Token, tokensOf } from './tokens.ts'

/** The author of a mail. */
export interface Author {
  /** The address as sent, its case preserved; absent where `From` does not name exactly one mailbox. */
  readonly address?: string
  /** What `from` shows (mail 2): `Name <address>`, the bare address, or text that cannot be taken for an address. */
  readonly display: string
}

const NO_SENDER = '(no sender)'
/** Longer than any honest field (a name of 100 encoded characters has 1 KB), and too long to be parsed cheaply. */
const MAX_FIELD = 8 * 1024
/** Limit for all fields that are shown as text together: at most 500 characters of them are shown. */
const MAX_TEXT = 2 * 1024
/** Most addresses of one mail that are compared with lists. */
const MAX_MENTIONED = 20
/** None of these is in an address that is compared with lists. */
const DELIMITERS = /[\s<>()[\]:;,"\\]+/
/** RFC 5321 4.5.3.1, in octets. */
const MAX_LOCAL = 64
const MAX_ADDRESS = 254

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are refused
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/
/** atext of RFC 5322 3.2.3; beyond ASCII only letters, marks and digits, so that nothing looks like a delimiter. */
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~\-\p{L}\p{M}\p{N}]+(?:\.[\w!#$%&'*+/=?^`{|}~\-\p{L}\p{M}\p{N}]+)*$/u
const DOMAIN = /^[\w\-\p{L}\p{M}\p{N}]+(?:\.[\w\-\p{L}\p{M}\p{N}]+)*$/u

/**
 * The author of a mail, by the one reading that sender authentication and the mailbox share: both must decide on the
 * same address, or a sender could be authenticated as one and shown as another (mail 13).
 *
 * A mail has an author when its header has exactly one `From` and that names exactly one mailbox:
 *
 *    from = [CFWS] [phrase] "<" addr-spec ">" [CFWS] / [CFWS] addr-spec [CFWS] ; RFC 5322 3.4
 *    phrase = 1*(atom / quoted-string / "." / CFWS) ; 3.2.5, obs-phrase
 *    addr-spec = dot-atom "@" domain ; 3.4.1, no white space or comment around "@" and "."; UTF-8: RFC 6532
 *
 * Not read are: several fields or mailboxes, groups, source routes, quoted local parts, domain literals, encoded words
 * in an address, escapes and parentheses in comments, control characters, fields above 8 KB, headers above a limit, and
 * lines that other programs could take for a part of the field. Programs read those differently, and no mail worth
 * authenticating has them.
 *
 * Accepts any bytes, in time linear to the header; never throws.
 * @param raw the mail, or its header
 */
export function authorOf(raw: Buffer, limits: Pick<ParseLimits, 'headerBytes' | 'headerFields'>): Author {
  const { fields, isWhole } = fromFieldsOf(raw, limits)
  const [only, ...others] = fields
  if (isWhole && only !== undefined && others.length === 0) {
    const author = authorIn(only)
    if (author !== undefined) return author
  }
  return { display: formatText(textsOf(fields).join(', ')) || NO_SENDER }
}

/**
 * The addresses in the text of `From`, whatever stands around them: in names, comments, groups and encoded words too, and
 * with white space around the `@`. For mail without exactly one author, of which `authorOf` gives only the text. In the
 * form in which addresses are compared, each once, the first 20. Accepts any bytes, in time linear to the header; never
 * throws.
 * @param raw the mail, or its header
 */
export function addressesInFrom(raw: Buffer, limits: Pick<ParseLimits, 'headerBytes' | 'headerFields'>): string[] {
  const found = new Set<string>()
  for (const text of textsOf(fromFieldsOf(raw, limits).fields)) {
    const parts = text.split('@')
    for (const [index, domain] of parts.slice(1).entries()) {
      const address = `${endOf(parts[index] ?? '')}@${beginningOf(domain)}`
      if (isValidAddress(address)) found.add(normalizeAddress(address))
      if (found.size === MAX_MENTIONED) return [...found]
    }
  }
  return [...found]
}

/** What stands directly ahead of an `@`, without an opening quote. */
function endOf(text: string): string {
  return (text.trimEnd().slice(-MAX_ADDRESS).split(DELIMITERS).at(-1) ?? '').replace(/^['`]+/, '')
}

/** What stands directly after an `@`, without the punctuation of a sentence. */
function beginningOf(text: string): string {
  const [domain = ''] = text.trimStart().slice(0, MAX_ADDRESS).split(DELIMITERS, 1)
  return /^[\p{L}\p{M}\p{N}.-]*[\p{L}\p{M}\p{N}]/u.exec(domain)?.[0] ?? ''
}

/**
 * The fields as text. Decoding costs many times what reading does, so only as many bytes are decoded as can be shown.
 */
function textsOf(fields: readonly FromField[]): string[] {
  const texts: string[] = []
  let room = MAX_TEXT
  for (const { value } of fields) {
    if (room === 0) break
    const shown = value.subarray(0, room)
    room -= shown.length
    const text = phraseOf([...tokensOf(textOf(shown))])
    if (text.trim() !== '') texts.push(text)
  }
  return texts
}

function authorIn({ value, isClear }: FromField): Author | undefined {
  if (!isClear || value.length > MAX_FIELD || CONTROL.test(value.toString('latin1'))) return undefined
  const tokens = [...tokensOf(textOf(value))]
  if (tokens.some(isTangledComment)) return undefined
  const open = tokens.findIndex(({ kind, text }) => kind === 'special' && text === '<')
  if (open < 0) return bare(tokens, isUtf8(value))
  const close = tokens.findIndex(({ kind, text }) => kind === 'special' && text === '>')
  const phrase = tokens.slice(0, open)
  const address = addressOf(tokens.slice(open + 1, close), isUtf8(value))
  if (address === undefined || !tokens.slice(close + 1).every(isComment)) return undefined
  if (!phrase.every(isWord) && addressOf(phrase, true)?.toLowerCase() !== address.toLowerCase()) return undefined
  return { address, display: formatAddress(phraseOf([...phrase, ...tokens.slice(close + 1)]), address) }
}

/** An address without brackets; a comment next to it is its name. */
function bare(tokens: readonly Token[], isUnicode: boolean): Author | undefined {
  const address = addressOf(
    tokens.filter((token) => !isComment(token)),
    isUnicode,
  )
  if (address === undefined) return undefined
  const name = phraseOf(tokens.filter(isComment).map((comment) => ({ ...comment, kind: 'quoted' })))
  return { address, display: formatAddress(name, address) }
}

/** The address that these tokens form, each directly after the previous one. */
function addressOf(tokens: readonly Token[], isUnicode: boolean): string | undefined {
  const [local, at, domain, ...more] = tokens
  if (local === undefined || at === undefined || domain === undefined || more.length > 0) return undefined
  if (local.kind !== 'atom' || at.text !== '@' || domain.kind !== 'atom') return undefined
  if (local.end !== at.start || at.end !== domain.start) return undefined
  const address = `${local.text}@${domain.text}`
  // Bytes that are not UTF-8 were decoded by a guess.
  if (!isUnicode && /[^\p{ASCII}]/u.test(address)) return undefined
  if (Buffer.byteLength(local.text) > MAX_LOCAL || Buffer.byteLength(address) > MAX_ADDRESS) return undefined
  if (!LOCAL.test(local.text) || !isDomain(domain.text) || address.includes('=?')) return undefined
  return address
}

function isDomain(domain: string): boolean {
  return DOMAIN.test(domain) && (/^\p{ASCII}+$/u.test(domain) || domainToASCII(domain) !== '')
}

const isComment = ({ kind }: Token): boolean => kind === 'comment'
/** Some parsers end a comment at a parenthesis inside it, escaped or nested. */
const isTangledComment = ({ kind, text, start, end }: Token): boolean =>
  kind === 'comment' && (/[()]/.test(text) || text.length !== end - start - '()'.length)
const isWord = ({ kind }: Token): boolean => kind === 'atom' || kind === 'quoted' || kind === 'comment'

/** Unfolded: a line break before white space has no meaning (RFC 5322 2.2.3). */
function textOf(value: Buffer): string {
  return decodeCharset(Buffer.from(value.toString('latin1').replace(/\r?\n(?=[ \t])/g, ''), 'latin1'))
}
