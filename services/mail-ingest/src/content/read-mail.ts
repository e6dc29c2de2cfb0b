import { ParserUnavailableError, type ReadMail } from '@restante/mime'
import { UpstreamError } from '@restante/service/errors'

/**
 * Waits for the result of a parser thread.
 * @throws ParserCrashedError, ParserOverdueError, ParserTimeoutError: the mail may be at fault; UpstreamError: no mail
 * can be read now.
 */
export async function parsed(reading: Promise<ReadMail>): Promise<ReadMail> {
  try {
    return await reading
  } catch (cause) {
    if (cause instanceof ParserUnavailableError) throw new UpstreamError('mail cannot be parsed now', { cause })
    throw cause
  }
}
