import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

/** A process of its own: test files before this one may have used up what a process prepares. */
const FIXTURE = path.join(import.meta.dirname, '../fixtures/prepared.ts')

describe('a prepared statement', () => {
  it('has one name for one text, for a bounded number of texts; further ones are planned each time', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [FIXTURE])
    const { first, other, again, prepared, last } = JSON.parse(stdout)
    expect([first.name, other.name]).toEqual([expect.any(String), expect.any(String)])
    expect(first.name).not.toBe(other.name)
    expect(again).toEqual(first)
    expect(prepared).toBeLessThan(500)
    expect(last).toEqual({ text: 'select 1999 as built' })
  })
})
