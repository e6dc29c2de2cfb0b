/// <reference path="./mailauth.d.ts" />
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { DkimSigner } from 'mailauth/lib/dkim/dkim-signer.js'

/** The keys that sign for a domain: each makes a signature of its own (RFC 6376; RFC 8463 for Ed25519). */
export interface DkimKeys {
  readonly domain: string
  readonly keys: readonly {
    readonly selector: string
    /** PEM. */
    readonly privateKey: string
  }[]
}

/** A signature was ordered and could not be made. */
export class SigningError extends Error {
  constructor(errors: DkimSigner['errors']) {
    super(`The mail cannot be signed: ${errors.map(({ selector, err }) => `${selector}: ${err.message}`).join(', ')}`)
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
const OPTIONS = { canonicalization: 'relaxed/relaxed', headerList: SIGNED }

// Loaded with the first signature: it costs 30 MB, and most processes sign nothing.
const loadSigner = () => import('mailauth/lib/dkim/dkim-signer.js')
const loadTools = () => import('mailauth/lib/tools.js')

/** The message with its signatures in front. @throws SigningError */
export async function sign(raw: Buffer, keys: DkimKeys): Promise<Buffer> {
  const { DkimSigner } = await loadSigner()
  const signer = new DkimSigner({ ...OPTIONS, signatureData: signatureData(keys) })
  await pipeline(Readable.from(piecesOf(raw), { objectMode: false }), signer)
  return Buffer.concat([...signaturesOf(signer).flatMap((line) => [line, LINE_BREAK]), raw])
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
  const { DkimSigner } = await loadSigner()
  const signer = new DkimSigner({ ...OPTIONS, signatureData: signatureData(keys), bodyHash, headers: { parsed: own } })
  await signer.finalize()
  const lines = [...signaturesOf(signer), ...own.map(({ line }) => line)]
  return Buffer.concat([...lines.flatMap((line) => [line, LINE_BREAK]), LINE_BREAK])
}

const LINE_BREAK = Buffer.from('\r\n')

function signaturesOf({ errors, signatureHeaders }: DkimSigner): Buffer[] {
  if (errors.length > 0) throw new SigningError(errors)
  return signatureHeaders.map((line) => Buffer.from(line))
}

const PIECE = 64 * 1024

/** Other work gets its turn between two pieces. */
function* piecesOf(raw: Buffer): Generator<Buffer> {
  for (let start = 0; start < raw.length; start += PIECE) yield raw.subarray(start, start + PIECE)
}

function bodyHashIn(line: Buffer): string | undefined {
  return /;\s*bh=([A-Za-z0-9+/=\s]+);/.exec(line.toString('latin1'))?.[1]?.replace(/\s/g, '')
}

/** A new object for each call: the signer changes it. */
function signatureData({ domain, keys }: DkimKeys) {
  return keys.map(({ selector, privateKey }) => ({ signingDomain: domain, selector, privateKey }))
}
