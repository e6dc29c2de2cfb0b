import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Exchange } from '@restante/service/http'

/** A body, and its compressed form where that is smaller. */
export interface StaticFile {
  readonly plain: Buffer
  readonly gzipped: Buffer | undefined
}

/** Bodies that are made and compressed only once, because they are large and served without a key. */
export class StaticFiles {
  readonly #known = new Map<string, Promise<StaticFile | undefined>>()

  /**
   * @param make is called for the first request. A failure is retried by the next one, and what does not exist is not
   * remembered, so that the names that clients invent take no memory.
   */
  get(name: string, make: () => Promise<Buffer | string | undefined>): Promise<StaticFile | undefined> {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const made = this.#make(name, make)
    this.#known.set(name, made)
    return made
  }

  async #make(name: string, make: () => Promise<Buffer | string | undefined>): Promise<StaticFile | undefined> {
    let file: StaticFile | undefined
    try {
      const content = await make()
      file = content === undefined ? undefined : await compressed(Buffer.from(content))
      return file
    } finally {
      if (file === undefined) this.#known.delete(name)
    }
  }
}

async function compressed(plain: Buffer): Promise<StaticFile> {
  const gzipped = await promisify(gzip)(plain)
  return { plain, gzipped: gzipped.length < plain.length ? gzipped : undefined }
}

const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i

/** Sends a file in the form that the client takes. @param headers its type, and those that differ from the usual ones. */
export function sendFile(
  { request, response }: Exchange,
  file: StaticFile,
  headers: Readonly<Record<string, string>>,
): void {
  const { plain, gzipped } = file
  const takesGzip = TAKES_GZIP.test(String(request.headers['accept-encoding'] ?? ''))
  const body = takesGzip && gzipped !== undefined ? gzipped : plain
  response.setHeader('cache-control', 'no-cache')
  response.setHeader('vary', 'Accept-Encoding')
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.setHeader('content-length', body.length)
  if (body === gzipped) response.setHeader('content-encoding', 'gzip')
  response.end(body)
}
