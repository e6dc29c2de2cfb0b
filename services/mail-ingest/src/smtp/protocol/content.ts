import type { Readable } from 'node:stream'
import { UnusableContentError } from '../../raw/writer.ts'
import { LineGuard } from './line-guard.ts'

/** A mail above the size announced in EHLO. */
export class MailTooLargeError extends UnusableContentError {
  override readonly name = 'MailTooLargeError'
}

/** The connection ended within the mail. */
export class MailInterruptedError extends UnusableContentError {
  override readonly name = 'MailInterruptedError'
}

/**
 * The content of DATA, checked while it is read: at most `limit` bytes, strict line endings. The stream is left open
 * when a check fails, so that the rest can be read to its end and the reply is sent where the client expects it.
 * @throws SmugglingAttemptError, MailTooLargeError, MailInterruptedError
 */
export async function* checkedContent(stream: Readable, limit: number): AsyncGenerator<Buffer, void> {
  const guard = new LineGuard()
  let size = 0
  for await (const chunk of received(stream)) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk)
    size += bytes.length
    if (size > limit) throw new MailTooLargeError()
    guard.check(bytes)
    yield bytes
  }
  guard.end()
}

async function* received(stream: Readable): AsyncGenerator<Buffer | string> {
  try {
    yield* stream.iterator({ destroyOnReturn: false })
  } catch (cause) {
    throw new MailInterruptedError('the mail broke off', { cause })
  }
}

/**
 * Reads a stream to its end and discards it. @returns false when there is more than `limit`; the rest is left unread.
 */
export async function drain(stream: Readable, limit: number): Promise<boolean> {
  let size = 0
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    size += Buffer.byteLength(chunk)
    if (size > limit) return false
  }
  return true
}
