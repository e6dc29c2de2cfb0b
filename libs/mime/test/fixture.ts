import { readFileSync } from 'node:fs'
import { decodeTransfer } from '../src/decode/transfer.ts'
import type { AttachmentInfo } from '../src/index.ts'

/** The bytes of a fixture mail. */
export function fixture(name: string): Buffer {
  return readFileSync(new URL(`./fixtures/${name}.eml`, import.meta.url))
}

/** A mail made of these lines. */
export function mailOf(...lines: string[]): Buffer {
  return Buffer.from(lines.join('\r\n'))
}

/** The bytes of an attachment that `parse` found in a mail. */
export function bytesOf(raw: Buffer, { start, end, encoding }: AttachmentInfo): Buffer {
  return Buffer.concat([...decodeTransfer(raw.subarray(start, end), encoding)])
}
