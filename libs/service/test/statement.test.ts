import { sql } from '../src/index.ts'

describe('a prepared statement', () => {
  it('has one name for one text', () => {
    expect(sql('select 1').name).toBe(sql('select 1').name)
    expect(sql('select 1').name).not.toBe(sql('select 2').name)
  })

  it('is named for a bounded number of texts; further texts are planned each time, and the first keep their names', () => {
    const first = sql('select 1')
    const built = Array.from({ length: 2_000 }, (_, number) => sql(`select ${number} as built`))
    expect(built.filter(({ name }) => name !== undefined).length).toBeLessThan(500)
    expect(built.at(-1)).toEqual({ text: 'select 1999 as built' })
    expect(sql('select 1')).toEqual(first)
  })
})
