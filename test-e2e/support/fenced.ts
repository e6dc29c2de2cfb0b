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

/** The fenced blocks of a document of the repository, in their order; those in lists without their indentation. */
export async function examplesIn(document: string): Promise<Example[]> {
  const text = await readFile(path.join(root, document), 'utf8')
  return [...text.matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)].map(
    ({ index, 1: indentation = '', 2: language = '', 3: code = '' }) => ({
      language,
      code: code.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
      line: text.slice(0, index).split('\n').length,
    }),
  )
}
