import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

/** Handlers of the requests that a program makes to its test, by name. */
export type Answers = Readonly<Record<string, (given: Readonly<Record<string, unknown>>) => unknown>>

/**
 * Answers a program until it ends. Its lines are JSON: `{"ask": name, ...}` gets one line of JSON back, `{"result": ...}`
 * is what it resolves to.
 * @throws Error with what the program wrote to stderr when it fails.
 */
export async function converse(
  name: string,
  child: ChildProcessWithoutNullStreams,
  answers: Answers,
): Promise<Readonly<Record<string, unknown>>> {
  const ended = once(child, 'exit')
  const complaints = text(child.stderr)
  let result: Readonly<Record<string, unknown>> | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    const { ask, result: reported, ...given } = JSON.parse(line)
    if (reported !== undefined) result = reported
    else child.stdin.write(`${JSON.stringify((await answers[ask]?.(given)) ?? null)}\n`)
  }
  const [code] = await ended
  if (code !== 0 || result === undefined) throw new Error(`${name} ended with ${code}:\n${await complaints}`)
  return result
}
