import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '../..')
const fixture = 'tools/test/fixtures/statements'

/** Runs `npm run statements:check`. */
async function check(...folders: string[]): Promise<{ fits: boolean; output: string[] }> {
  const run = promisify(execFile)(process.execPath, [join(root, 'tools/statements/check.ts'), ...folders])
  const { stdout, fits } = await run.then(
    ({ stdout }) => ({ stdout, fits: true }),
    // The server of the compiler may report on the other stream that it was stopped.
    (failure) => ({ stdout: failure.stdout || failure.stderr, fits: false }),
  )
  return { fits, output: stdout.trimEnd().split('\n') }
}

describe('the check of SQL statements against the schema', () => {
  it('accepts every statement of the libraries and services', async () => {
    const { fits, output } = await check()
    expect(output).toEqual([expect.stringMatching(/^\d{3} statements fit the schema$/)])
    expect(fits).toBe(true)
  })

  it('reports location and reason of each statement that does not fit, and no others', async () => {
    const { fits, output } = await check(join(root, fixture))
    expect(fits).toBe(false)
    expect(output.map((line) => line.replace(`${fixture}/src/wrong.ts:`, ''))).toEqual([
      '14: column title is declared and not selected',
      '15: column tags is selected and not declared',
      '16: column total is declared as number and is bigint, which pg gives as a string',
      '17: column note is declared as string and may be null',
      '18: column tags is declared as number[] and is text[]',
      '19: $1 is declared as number and is uuid',
      '20: values declared: 1, parameters of the statement: 2',
      '21: relation "letters" does not exist',
      '25: no import makes this statement; make it in test/statements.ts',
    ])
  })
})
