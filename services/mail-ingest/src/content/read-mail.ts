import { type ParserPool, ParserUnavailable, type ReadMail } from '@restante/mime'
import { UpstreamError } from '@restante/service'

/**
 * Reads a mail in a parser thread.
 * @throws ParserDied, ParserTimedOut: the mail may be at fault; UpstreamError: no mail can be read now.
 */
export async function readMailWith(parser: ParserPool, raw: Buffer): Promise<ReadMail> {
  try {
    return await parser.read(raw)
  } catch (cause) {
    if (cause instanceof ParserUnavailable) throw new UpstreamError('mail cannot be parsed now', { cause })
    throw cause
  }
}
