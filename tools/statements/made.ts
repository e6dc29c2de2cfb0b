import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getCallSites } from 'node:util'
import { observeStatements } from '@restante/service/statements'
import type { Made } from './types.ts'

/** Records the statements that modules create from now on. */
export class MadeStatements {
  #made: Made[] = []

  constructor() {
    observeStatements((text) => this.#made.push({ text, ...placeOfCall() }))
  }

  /**
   * Imports these modules of a package, and its `test/statements.ts` where it has one: that file creates the statements
   * which a module creates only when a function is called. Libraries come before the packages that import them.
   * @returns the statements that these imports created, and those that modules of this package created before.
   */
  async importedBy(folder: string, files: readonly string[]): Promise<Made[]> {
    const isOwn = ({ file }: Made): boolean => file.startsWith(`${folder}/`)
    const own = this.#made.filter(isOwn)
    const others = this.#made.filter((statement) => !isOwn(statement))
    this.#made = []
    const extra = join(folder, 'test/statements.ts')
    for (const file of existsSync(extra) ? [...files, extra] : files) await import(file)
    const made = [...own, ...this.#made]
    this.#made = others
    return made
  }
}

/** The location of the call of `sql`. The frames above it are the observer and `sql` itself. */
function placeOfCall(): Omit<Made, 'text'> {
  const site = getCallSites(4)[3]
  if (!site) throw new Error('a statement was created outside of a module')
  return { file: fileURLToPath(site.scriptName), line: site.lineNumber, column: site.columnNumber }
}
