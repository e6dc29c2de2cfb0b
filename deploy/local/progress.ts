/** When the command began, as recorded by restante.mjs, which runs first. */
const began = Number(process.env['RESTANTE_BEGAN'] ?? Date.now())

/** One line of progress with the seconds since the command began. */
export function say(text: string): void {
  const seconds = ((Date.now() - began) / 1000).toFixed(1).padStart(6)
  process.stdout.write(`${seconds} s  ${text}\n`)
}

/** Reports the start of a step, runs it, and reports how long it took. */
export async function step<T>(text: string, work: () => Promise<T>): Promise<T> {
  say(`${text} ...`)
  const start = performance.now()
  const result = await work()
  say(`${text}: done in ${((performance.now() - start) / 1000).toFixed(1)} s`)
  return result
}

/** A failure whose message is all that its reader needs: printed without a stack. */
export class Advice extends Error {
  override readonly name = 'Advice'
}
