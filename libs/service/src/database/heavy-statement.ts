import { isStatementTimeout } from './errors.ts'

/** A small write takes a few milliseconds; a database that needs longer than this is slow itself. */
const PROMPT_MS = 2_000

/** A statement took too long although the database answers: its data is at fault. */
export class HeavyStatementError extends Error {
  override readonly name = 'HeavyStatementError'
}

/**
 * Runs work in the database, and distinguishes a statement that is too heavy from a database that is down or slow:
 * after a statement timeout a small write must succeed promptly. An outage is waited out; a heavy statement counts
 * against the mail or event that it is about, because it would time out every time.
 * @throws HeavyStatementError
 */
export async function blamingHeavyStatements<T>(work: () => Promise<T>, smallWrite: () => Promise<void>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isStatementTimeout(error) && (await isPrompt(smallWrite))) {
      // The timeout is not passed as the cause: this error would then count as an infrastructure failure, too.
      throw new HeavyStatementError(`a statement took too long, and the database answers: ${String(error)}`)
    }
    throw error
  }
}

async function isPrompt(smallWrite: () => Promise<void>): Promise<boolean> {
  const begun = performance.now()
  try {
    await smallWrite()
  } catch {
    return false
  }
  return performance.now() - begun < PROMPT_MS
}
