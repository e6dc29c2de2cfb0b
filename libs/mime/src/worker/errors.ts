/** The thread that read this mail or document ended: out of memory, or a failure of the parser. It was replaced. */
export class ParserCrashedError extends Error {
  constructor(cause: unknown) {
    super('A parser thread died of what it read', { cause: withoutText(cause) })
    this.name = 'ParserCrashedError'
  }
}

/**
 * The thread that read this mail or document took too long, or answered no question while it collected a full heap, and
 * was stopped. It was replaced.
 */
export class ParserTimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`A parser thread was stopped on what it read: it took ${timeoutMs} ms, or answered no question`)
    this.name = 'ParserTimeoutError'
  }
}

/** The first attempt at this mail took longer than honest mail does. It can still be read, in the slow lane. */
export class ParserOverdueError extends Error {
  constructor(firstMs: number) {
    super(`The first attempt at a mail was stopped after ${firstMs} ms`)
    this.name = 'ParserOverdueError'
  }
}

/** No thread could read this: none started, or the pool is closed. This says nothing about the mail or document. */
export class ParserUnavailableError extends Error {
  constructor(cause: unknown) {
    super('No parser thread is available', { cause })
    this.name = 'ParserUnavailableError'
  }
}

/** What a library says of an error may quote what was read, and errors are logged: only name, code and places are kept. */
function withoutText(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error(typeof thrown)
  const code = 'code' in thrown ? ` ${String(thrown.code)}` : ''
  const kept = new Error(`${thrown.name}${code}`)
  const places = (thrown.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line))
  kept.stack = [kept.message, ...places].join('\n')
  return kept
}
