import type { Readable } from 'node:stream'
import { LineGuard } from './line-guard.ts'

/** A mail above the size that EHLO announced. */
export class MailTooLarge extends Error {
  override readonly name = 'MailTooLarge'
}

/**
 * What DATA carries, checked while it flows by: at most `limit` bytes, strict line endings. The stream is left open
 * when a check fails, so that the rest can be read up to its end and the answer comes where the peer expects it.
 * @throws SmugglingAttempt, MailTooLarge
 */
export async function* checkedContent(stream: Readable, limit: number): AsyncGenerator<Buffer, void> {
  const guard = new LineGuard()
  let size = 0
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk)
    size += bytes.length
    if (size > limit) throw new MailTooLarge()
    guard.check(bytes)
    yield bytes
  }
  guard.end()
}

/** Reads a stream to its end and forgets it. @returns false when there is more than `limit`; it is left unread. */
export async function drain(stream: Readable, limit: number): Promise<boolean> {
  let size = 0
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    size += Buffer.byteLength(chunk)
    if (size > limit) return false
  }
  return true
}
