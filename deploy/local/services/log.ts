import { readFile } from 'node:fs/promises'
import { z } from 'zod'

const line = z.looseObject({
  level: z.union([z.string(), z.number()]),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string() }).optional(),
})

/** The last lines of a log file, with JSON lines shortened for reading. */
export async function readableLog(file: string, count: number): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '(no log)')
  return text.trimEnd().split('\n').slice(-count).map(readableLine).join('\n')
}

function readableLine(text: string): string {
  if (!text.startsWith('{')) return `  ${text}`
  const parsed = line.safeParse(parse(text))
  if (!parsed.success) return `  ${text}`
  const { level, msg, err } = parsed.data
  return `  ${level} ${msg}${err ? `: ${err.message}` : ''}`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
