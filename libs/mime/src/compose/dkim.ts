/// <reference path="./mailauth.d.ts" />
import { createHash, type KeyObject, sign as signWith } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { HeaderRow } from 'mailauth/lib/tools.js'

/** The keys that sign for a domain: each makes a signature of its own (RFC 6376; RFC 8463 for Ed25519). */
export interface DkimKeys {
  readonly domain: string
  readonly keys: readonly DkimKey[]
}

export interface DkimKey {
  readonly selector: string
  /** RSA or Ed25519. An object, because reading PEM takes a tenth of the time of a signature. */
  readonly privateKey: KeyObject
}

/** A signature was ordered and could not be made. */
export class SigningError extends Error {
  constructor(selector: string, cause: unknown) {
    super(`The mail cannot be signed with the key ${selector}`, { cause })
    this.name = 'SigningError'
  }
}

// The fields that RFC 6376 5.4.1 recommends, and those by which recipients unsubscribe, which RFC 8058 4 demands.
const SIGNED = [
  'From',
  'Sender',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'To',
  'Cc',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'Content-ID',
  'Content-Description',
  'In-Reply-To',
  'References',
  'List-Id',
  'List-Help',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'List-Subscribe',
  'List-Post',
  'List-Owner',
  'List-Archive',
]

/**
 * Fields that are listed once more than they occur, so that a mail to which somebody adds one of them fails (RFC 6376
 * 5.4.2, 8.15): programs differ in which of two they show. Not those that mailing lists add.
 */
const OVERSIGNED = [
  'From',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Reply-To',
  'Message-ID',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'In-Reply-To',
  'References',
]
const SIGNED_NAMES = new Set(SIGNED.map((name) => name.toLowerCase()))
const CANONICALIZATION = 'relaxed/relaxed'

// Loaded with the first signature: it costs 30 MB, and most processes sign nothing.
const loadBody = () => import('mailauth/lib/dkim/body/index.js')
const loadHeader = () => import('mailauth/lib/dkim/header/index.js')
const loadTools = () => import('mailauth/lib/tools.js')

/** The message with its signatures in front. @throws SigningError */
export async function sign(raw: Buffer, keys: DkimKeys): Promise<Buffer> {
  const { parseHeaders } = await loadTools()
  const end = raw.indexOf(END_OF_HEADER)
  const { parsed } = parseHeaders(raw.subarray(0, end))
  const bodyHash = await hashBody(raw.subarray(end + END_OF_HEADER.length))
  const signatures = await signaturesOf(parsed, bodyHash, keys)
  return Buffer.concat([...signatures.flatMap((line) => [line, LINE_BREAK]), raw])
}

/**
 * Puts fields in front of a header and replaces its signatures. The body is not read: its hash is taken from the existing
 * signature. Without a signature or without keys, the fields stay unsigned.
 * @param header of a mail of this installation, whose signatures it has made itself, up to and with its empty line.
 * @param fields each with its line break.
 * @throws SigningError
 */
export async function prepend(header: Buffer, fields: string, keys: DkimKeys | undefined): Promise<Buffer> {
  const { parseHeaders } = await loadTools()
  const all = parseHeaders(Buffer.concat([Buffer.from(fields), header])).parsed
  const bodyHash = all.map(({ key, line }) => (key === 'dkim-signature' ? bodyHashIn(line) : undefined)).find(Boolean)
  const own = all.filter(({ key }) => key !== 'dkim-signature')
  if (bodyHash === undefined || keys === undefined) return Buffer.concat([Buffer.from(fields), header])
  const lines = [...(await signaturesOf(own, bodyHash, keys)), ...own.map(({ line }) => line)]
  return Buffer.concat([...lines.flatMap((line) => [line, LINE_BREAK]), LINE_BREAK])
}

const LINE_BREAK = Buffer.from('\r\n')
const END_OF_HEADER = Buffer.from('\r\n\r\n')

/** One signature for each key, over the last field of a name first, as verifiers take them (RFC 6376 5.4.2). */
async function signaturesOf(rows: readonly HeaderRow[], bodyHash: string, keys: DkimKeys): Promise<Buffer[]> {
  const [{ generateCanonicalizedHeader }, { formatSignatureHeaderLine }] = [await loadHeader(), await loadTools()]
  const headers = rows.filter(({ key }) => key !== undefined && SIGNED_NAMES.has(key)).reverse()
  const fields = { headers, keys: [...headers.map(({ casedKey }) => casedKey), ...OVERSIGNED].join(': ') }
  return keys.keys.map(({ selector, privateKey }) => {
    try {
      const algorithm = `${privateKey.asymmetricKeyType}-sha256`
      const options = { signingDomain: keys.domain, selector, algorithm, canonicalization: CANONICALIZATION, bodyHash }
      const { canonicalizedHeader, dkimHeaderOpts } = generateCanonicalizedHeader('DKIM', fields, options)
      const b = signatureOf(canonicalizedHeader, privateKey).toString('base64')
      return Buffer.from(formatSignatureHeaderLine('DKIM', { ...dkimHeaderOpts, b }, true))
    } catch (error) {
      throw new SigningError(selector, error)
    }
  })
}

/** Ed25519 signs the hash of the header (RFC 8463 3). */
function signatureOf(header: Buffer, key: KeyObject): Buffer {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return signWith('sha256', header, key)
    case 'ed25519':
      return signWith(null, createHash('sha256').update(header).digest(), key)
    default:
      throw new Error(`A key of type ${key.asymmetricKeyType} makes no DKIM signature`)
  }
}

const PIECE = 64 * 1024

/** Other work gets its turn between two pieces. */
async function hashBody(body: Buffer): Promise<string> {
  const { dkimBody } = await loadBody()
  const hash = dkimBody(CANONICALIZATION, 'sha256')
  for (let start = 0; start < body.length; start += PIECE) {
    if (start > 0) await turn()
    hash.update(body.subarray(start, start + PIECE))
  }
  return hash.digest('base64')
}

function bodyHashIn(line: Buffer): string | undefined {
  return /;\s*bh=([A-Za-z0-9+/=\s]+);/.exec(line.toString('latin1'))?.[1]?.replace(/\s/g, '')
}
