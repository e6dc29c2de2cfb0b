import { gunzipSync } from 'node:zlib'
import { ZipPackage } from '../documents/package/zip-package.ts'
import type { DmarcLimits } from './aggregate-report.ts'

/** Levels of elements: the format has five. */
const DEPTH = 16
const CHARACTERS = 0

/**
 * The XML in an attachment, which is a gzip file, a zip archive with one member, or XML itself (RFC 7489 7.2.1).
 * @returns undefined when it is none, or larger than the limits.
 */
export async function unpack(bytes: Buffer, limits: DmarcLimits): Promise<Buffer | undefined> {
  const most = Math.min(limits.inflatedBytes, bytes.length * limits.ratio)
  try {
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzipSync(bytes, { maxOutputLength: most })
    if (bytes.subarray(0, 2).toString('latin1') === 'PK') return await unzip(bytes, limits, most)
    return bytes.length <= limits.inflatedBytes ? bytes : undefined
  } catch {
    // Damaged, encrypted or too large: what the library says of it may quote it.
    return undefined
  }
}

async function unzip(bytes: Buffer, { members }: DmarcLimits, inflatedBytes: number): Promise<Buffer | undefined> {
  const zip = await ZipPackage.open(bytes, { members, inflatedBytes, depth: DEPTH, characters: CHARACTERS })
  const [name, ...others] = zip.names.filter((one) => !one.endsWith('/'))
  if (name === undefined || others.length > 0) return undefined
  const pieces: Buffer[] = []
  for await (const piece of zip.read(name)) pieces.push(piece)
  return Buffer.concat(pieces)
}
