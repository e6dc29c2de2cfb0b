import { sharesSystem } from '@restante/tools/jest/shared-system.ts'
import { endRun } from './run.ts'

/** The part of jest's description of a file that is of use here. */
interface TestFile {
  readonly path: string
}

/**
 * A reporter of jest that stops the shared system when the last file that uses it has ended. These files are the first to
 * start; until the end of the run its idle services would take a tenth of all CPU time.
 */
export default class EndOfSystem {
  readonly #users = new Set<string>()
  #othersBegan = false
  #ended: Promise<void> | undefined

  onTestFileStart({ path }: TestFile): void {
    if (sharesSystem(path)) this.#users.add(path)
    else this.#othersBegan = true
    this.#endUnused()
  }

  onTestFileResult({ path }: TestFile): void {
    this.#users.delete(path)
    this.#endUnused()
  }

  async onRunComplete(): Promise<void> {
    await this.#ended
  }

  #endUnused(): void {
    if (!this.#othersBegan || this.#users.size > 0) return
    // A failure is reported by the teardown, which tries again.
    this.#ended ??= endRun().catch(() => undefined)
  }
}
