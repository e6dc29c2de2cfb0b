import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { root } from '@restante/local/settings.ts'

/** One fenced block of a document. */
export interface Example {
  readonly language: string
  readonly code: string
  /** Its first line, for the title of its test. */
  readonly line: number
}

/** The fenced blocks of a document of the repository, in their order. */
export async function examplesIn(document: string): Promise<Example[]> {
  const text = await readFile(path.join(root, document), 'utf8')
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(({ index, 1: language = '', 2: code = '' }) => ({
    language,
    code,
    line: text.slice(0, index).split('\n').length,
  }))
}
