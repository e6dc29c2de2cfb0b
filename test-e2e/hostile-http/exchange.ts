import { type Agent, request as open } from 'node:http'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { PATIENCE_MS } from '@restante/testkit'
import type { HttpRequest } from './requests/make-request.ts'

/** A complete response. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

const TIMEOUT_MS = 2 * PATIENCE_MS

/** Sends one request. @throws Error when the connection breaks, or no complete response arrives in time. */
export function exchange(origin: string, agent: Agent, { method, path, headers, body }: HttpRequest) {
  return new Promise<HttpAnswer>((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(body.length) }
    const outgoing = open(`${origin}/`, { path, agent, method, headers: { ...headers, ...length } })
    outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error('no answer in time')))
    outgoing.once('error', reject)
    outgoing.once('response', (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.once('error', reject)
      incoming.once('end', () => {
        const text = decoded(Buffer.concat(chunks), incoming.headers['content-encoding'])
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
      })
    })
    outgoing.end(body)
  })
}

function decoded(bytes: Buffer, encoding: string | undefined): string {
  if (bytes.length === 0) return ''
  switch (encoding) {
    case undefined:
      return bytes.toString()
    case 'gzip':
      return gunzipSync(bytes).toString()
    case 'deflate':
      return inflateSync(bytes).toString()
    default:
      return brotliDecompressSync(bytes).toString()
  }
}

/** The request as a command that repeats it. */
export function asCurl(origin: string, { method, path, headers, body }: HttpRequest): string {
  const given = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  const data = body === undefined ? [] : [`--data-binary ${quoted(body.toString('latin1'))}`]
  return ['curl -i --path-as-is -X', method, quoted(`${origin}${path}`), ...given, ...data].join(' ')
}

/** Quotes any bytes for bash. */
function quoted(text: string): string {
  const escaped = text.replaceAll(/[^ -~]|['\\]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
  return `$'${escaped}'`
}
