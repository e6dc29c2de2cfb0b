import { createInterface } from 'node:readline/promises'
import type { Operator } from './operator.ts'

/** What a command talks to. */
export interface Console {
  /** The installation; opened when a command first needs it, so that help needs no configuration. */
  operator(): Operator
  /** A line for whoever reads the result, a person or a script. */
  print(line: string): void
  /** A line that says what is going on, or what is wrong. */
  say(line: string): void
  /** What a person answers; undefined where nobody sits in front. */
  ask(question: string): Promise<string | undefined>
}

/** Standard output and error of this process; questions are asked only where a person can see and answer them. */
export function processConsole(operator: () => Operator): Console {
  return {
    operator,
    print: (line) => void process.stdout.write(`${line}\n`),
    say: (line) => void process.stderr.write(`${line}\n`),
    ask: async (question) => {
      if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
      const lines = createInterface({ input: process.stdin, output: process.stderr })
      // Ctrl-C and the end of the input are answers too: not the one that was asked for.
      const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
      try {
        return await Promise.race([lines.question(question), closed])
      } finally {
        lines.close()
      }
    },
  }
}
