import { readdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { migrationsOf } from '@restante/service/database'
import { apply, inScratchDatabase } from '../prisma/scratch.ts'
import { mismatches } from './compare.ts'
import { declaredStatements } from './declared.ts'
import { Describer } from './describe.ts'
import type { MadeStatements } from './made.ts'
import { MODULES_OF_QUEUES, Planner } from './plans.ts'
import type { Declared, Made } from './types.ts'

const root = resolve(import.meta.dirname, '../..')

/** The packages of the repository. Libraries come first, so that their statements are not attributed to services. */
function packages(): string[] {
  return ['libs', 'services'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
  )
}

/**
 * Compares every statement of these packages with the schema, and plans those of queues.
 * @param folders default: all packages of the repository.
 * @returns the number of statements, and a line for each mismatch: `file:line: problem`.
 */
export async function checkStatements(
  made: MadeStatements,
  folders: readonly string[],
): Promise<{ checked: number; wrong: readonly string[] }> {
  const check = new Check(folders.length > 0 ? folders : packages())
  await check.run(made)
  return { checked: check.declared.size, wrong: check.wrong }
}

class Check {
  readonly declared: ReadonlyMap<string, Declared>
  readonly wrong: string[] = []
  readonly #folders: readonly string[]
  readonly #unmade: Map<string, Declared>

  constructor(folders: readonly string[]) {
    this.#folders = folders
    this.declared = new Map(declaredStatements(folders).map((statement) => [placeOf(statement), statement]))
    this.#unmade = new Map(this.declared)
  }

  async run(statements: MadeStatements): Promise<void> {
    for (const folder of this.#folders) {
      const files = [...this.declared.values()].map(({ file }) => file).filter((file) => file.startsWith(`${folder}/`))
      const made = await statements.importedBy(folder, [...new Set(files)])
      if (made.length > 0) await inScratchDatabase((url) => this.#checkPackage(folder, url, made))
    }
    for (const { file, line, row } of this.#unmade.values())
      if (row !== 'parameter') this.#report(file, line, 'no import makes this statement; make it in test/statements.ts')
    const files = new Set([...this.declared.values()].map(({ file }) => relative(root, file)))
    for (const module of MODULES_OF_QUEUES)
      if (this.#folders.some((folder) => join(root, module).startsWith(`${folder}/`)) && !files.has(module))
        this.#report(join(root, module), 1, 'no statement was found here; correct the list in plans.ts')
  }

  async #checkPackage(folder: string, url: string, made: readonly Made[]): Promise<void> {
    await apply(url, await migrationsOf(folder))
    const [describer, planner] = [await Describer.open(url), await Planner.open(url)]
    for (const statement of made) await this.#check({ describer, planner }, statement)
    await Promise.all([describer.close(), planner.close()])
  }

  async #check({ describer, planner }: { describer: Describer; planner: Planner }, made: Made): Promise<void> {
    const { file, line, text } = made
    const statement = this.declared.get(placeOf(made))
    if (!statement) return this.#report(file, line, 'the declaration of this statement was not found')
    this.#unmade.delete(placeOf(made))
    try {
      const described = await describer.describe(text)
      for (const problem of mismatches(statement, described, text)) this.#report(file, line, problem)
      if (!MODULES_OF_QUEUES.includes(relative(root, file))) return
      for (const whole of await planner.readWhole(text))
        this.#report(file, line, `the plan made while tables are empty reads all of ${whole} (decision 110)`)
    } catch (error) {
      this.#report(file, line, error instanceof Error ? error.message : String(error))
    }
  }

  #report(file: string, line: number, problem: string): void {
    this.wrong.push(`${relative(root, file)}:${line}: ${problem}`)
  }
}

function placeOf({ file, line, column }: { file: string; line: number; column: number }): string {
  return `${file}:${line}:${column}`
}
