import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A reply as a client writes it, and the words in it that are new. */
export interface ReplyCase {
  readonly name: string
  /** The files it comes from: `own`, or `blind` for those of an author who has not seen the code. */
  readonly half: Half
  readonly lang: string
  readonly kind: 'text' | 'html'
  readonly body: string
  readonly expected: string
}

export const HALVES = ['own', 'blind'] as const
export type Half = (typeof HALVES)[number]

const CASE = /^=== case (.+)\nlang: (\S+)\nkind: (text|html)\n--- body\n([\s\S]*)\n--- expected\n?([\s\S]*)$/

/** The labelled set, from `<half>/*.cases` beside this file. */
export function readCases(): ReplyCase[] {
  return HALVES.flatMap((half) => {
    const folder = join(import.meta.dirname, half)
    if (!existsSync(folder)) return []
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.cases'))
    return names.sort().flatMap((name) => parseCases(readFileSync(join(folder, name), 'utf8'), half))
  })
}

/** The cases of one file; a case that lacks a part is an error, so that none is passed over. */
export function parseCases(file: string, half: Half): ReplyCase[] {
  const blocks = file.split(/^(?==== case )/m).filter((block) => block.trim() !== '')
  return blocks.map((block) => {
    const match = CASE.exec(block)
    if (match === null) throw new Error(`This is not a case, see README.md: ${block.slice(0, 80)}`)
    const [, name = '', lang = '', kind, body = '', expected = ''] = match
    return { name: name.trim(), half, lang, kind: kind === 'html' ? 'html' : 'text', body, expected }
  })
}
