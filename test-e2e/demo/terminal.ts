const WIDTH = 78
const colored = process.stdout.isTTY && !process.env['NO_COLOR']

function paint(code: number, text: string): string {
  return colored ? `\u001b[${code}m${text}\u001b[0m` : text
}

export const bold = (text: string): string => paint(1, text)
export const dim = (text: string): string => paint(2, text)
export const green = (text: string): string => paint(32, text)
export const red = (text: string): string => paint(31, text)

/** One line with its latency at the right edge. */
export function result(text: string, ms: number): void {
  const latency = `${Math.round(ms)} ms`
  const gap = ' '.repeat(Math.max(2, WIDTH - 4 - text.length - latency.length))
  print(`  ${green('✓')} ${text}${gap}${bold(latency)}`)
}

/** A line below a result, with its details. */
export function detail(text: string): void {
  print(`      ${dim(text)}`)
}

export function heading(number: number, text: string): void {
  print(`\n${bold(`${number}. ${text}`)}`)
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Does the work and prints how long it took. */
export async function timed<T>(text: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  try {
    const value = await work()
    result(text, performance.now() - began)
    return value
  } catch (error) {
    print(`  ${red('✗')} ${text}`)
    throw error
  }
}
