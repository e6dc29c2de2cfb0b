import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { BufferBuilder } from '../http/framing/buffer-builder.ts'
import { OutboundNetworkError, OutboundTooLargeError } from './errors.ts'

export interface ResponseBody {
  readonly bytes: Buffer
  /** Whether there was, or may have been, more. */
  readonly truncated: boolean
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/**
 * Reads the whole content and decodes its content codings: none is requested, but object stores send what was uploaded.
 * The limit applies to the decoded bytes, so a decompression bomb ends at it.
 * @throws OutboundTooLargeError
 */
export async function readWhole(
  body: Readable,
  limit: number,
  encoding: string,
  count?: (bytes: number) => void,
): Promise<ResponseBody> {
  const bytes = new BufferBuilder()
  for await (const chunk of decoded(body, encoding)) {
    if (bytes.size + chunk.length > limit) throw new OutboundTooLargeError(limit)
    count?.(chunk.length)
    bytes.add(chunk)
  }
  return { bytes: bytes.take(), truncated: false }
}

/** Reads at most `limit` bytes as they arrive, and then closes. A failure after the headers only ends the reading. */
export async function readBeginning(body: Readable, limit: number): Promise<ResponseBody> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      chunks.push(chunk)
      if (size > limit) break
    }
  } catch {
    return { bytes: Buffer.concat(chunks).subarray(0, limit), truncated: true }
  }
  return { bytes: Buffer.concat(chunks).subarray(0, limit), truncated: size > limit }
}

function decoded(body: Readable, encoding: string): Readable {
  // Codings are listed in the order in which they were applied (RFC 9110 8.4).
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  // More than two codings only serve an attacker.
  if (codings.length > 2) throw new OutboundNetworkError('UNKNOWN_CONTENT_ENCODING')
  return codings.reduceRight<Readable>((stream, coding) => {
    const decoder = DECODERS[coding]?.()
    if (!decoder) throw new OutboundNetworkError('UNKNOWN_CONTENT_ENCODING')
    stream.on('error', (error) => decoder.destroy(error))
    decoder.on('close', () => stream.destroy())
    return stream.pipe(decoder)
  }, body)
}
