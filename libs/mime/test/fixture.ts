import { readFileSync } from 'node:fs'

/** The bytes of a fixture mail. */
export function fixture(name: string): Buffer {
  return readFileSync(new URL(`./fixtures/${name}.eml`, import.meta.url))
}

/** A mail from its lines. */
export function mailOf(...lines: string[]): Buffer {
  return Buffer.from(lines.join('\r\n'))
}
