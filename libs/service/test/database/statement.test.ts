import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from '../../src/database/index.ts'

/** A process of its own: this one would prepare nothing more for the test files after this. */
const FIXTURE = path.join(import.meta.dirname, '../fixtures/prepared.ts')

describe('a prepared statement', () => {
  it('has one name for one text', () => {
    expect(sql('select 1').name).toBe(sql('select 1').name)
    expect(sql('select 1').name).not.toBe(sql('select 2').name)
  })

  it('is named for a bounded number of texts; further texts are planned each time, and the first keep their names', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [FIXTURE])
    const { first, again, prepared, last } = JSON.parse(stdout)
    expect(prepared).toBeLessThan(500)
    expect(last).toEqual({ text: 'select 1999 as built' })
    expect(first.name).toEqual(expect.any(String))
    expect(again).toEqual(first)
  })
})
