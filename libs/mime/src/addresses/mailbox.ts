import { decodeWords } from '../decode/encoded-words.ts'
import { formatAddress, formatText } from './format.ts'
import type { Token } from './tokens.ts'

/** One parsed entry of an address list. */
export interface Mailbox {
  /**
   * Display name or comment, encoded words decoded; empty when there is none. The whole entry when it has no address.
   */
  readonly name: string
  /** As sent, without a source route; undefined when the entry is text that names no mailbox. */
  readonly address: string | undefined
}

/** RFC 5321 4.5.3.1 allows 254; some systems write longer ones. */
const MAX_ADDRESS = 320
/** The rest of a longer phrase is not decoded: far less of it is shown. */
const MAX_PHRASE = 10_000

/**
 * Parses one entry of an address list (RFC 5322 3.4, with the obsolete forms of 4.4). The address is the content of the
 * one pair of angle brackets, or the whole entry except comments: never something inside a quoted string, a comment or
 * an encoded word. Anything else is text.
 */
export function mailboxOf(entry: readonly Token[]): Mailbox {
  const angles = entry.flatMap(({ kind, text }, index) => (kind === 'special' && /[<>]/.test(text) ? [index] : []))
  const [open, close, ...more] = angles
  if (open === undefined) return bareMailbox(entry)
  const isPair = close !== undefined && more.length === 0 && entry[open]?.text === '<' && entry[close]?.text === '>'
  const address = isPair ? addressOf(withoutRoute(entry.slice(open + 1, close))) : undefined
  if (address === undefined || close === undefined) return { name: phraseOf(entry), address: undefined }
  const after = entry.slice(close + 1)
  if (after.some(({ kind }) => kind === 'special')) return { name: phraseOf(entry), address: undefined }
  return { name: phraseOf([...entry.slice(0, open), ...after]), address }
}

/** A mailbox as the API shows it (mail 2). Text without an address is shown so that it cannot be taken for one. */
export function shownMailbox({ name, address }: Mailbox): string {
  return address === undefined ? formatText(name) : formatAddress(name, address)
}

/** The words of a phrase as a reader would see them: quoted strings without their quotes, encoded words decoded. */
export function phraseOf(tokens: readonly Token[]): string {
  let phrase = ''
  let end: number | undefined
  for (const token of tokens) {
    if (phrase.length > MAX_PHRASE) break
    if (end !== undefined && token.start > end) phrase += ' '
    phrase += token.kind === 'comment' ? `(${token.text})` : token.text
    end = token.end
  }
  return decodeWords(phrase.slice(0, MAX_PHRASE))
}

/** `user@host (Name)`, the form used before display names existed; or text. */
function bareMailbox(entry: readonly Token[]): Mailbox {
  const address = addressOf(entry)
  if (address === undefined) return { name: phraseOf(entry), address }
  const comments = entry.filter(({ kind }) => kind === 'comment')
  return { name: phraseOf(comments.map((comment) => ({ ...comment, kind: 'quoted' }))), address }
}

/** The address that these tokens form, ignoring comments: local part, `@`, domain. */
function addressOf(tokens: readonly Token[]): string | undefined {
  const [local, at, domain, ...more] = tokens.filter(({ kind }) => kind !== 'comment')
  if (local === undefined || at?.text !== '@' || domain === undefined || more.length > 0) return undefined
  if (at.kind !== 'special' || !/^(?:atom|quoted)$/.test(local.kind) || !/^(?:atom|literal)$/.test(domain.kind))
    return undefined
  const address = `${local.kind === 'quoted' ? quoted(local.text) : local.text}@${domain.text}`
  // Programs that decode before they parse the address would find a different one in an encoded word.
  return address.length > MAX_ADDRESS || /=\?|[\p{C}\p{Zl}\p{Zp}]/u.test(address) ? undefined : address
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** Without the hosts that RFC 822 allowed before an address: `@a,@b:c@d` is c@d (RFC 5322 4.4). */
function withoutRoute(tokens: readonly Token[]): readonly Token[] {
  if (tokens[0]?.text !== '@' || tokens[0].kind !== 'special') return tokens
  const colon = tokens.findIndex(({ kind, text }) => kind === 'special' && text === ':')
  return colon < 0 ? tokens : tokens.slice(colon + 1)
}
