import { readFileSync } from 'node:fs'
import { COLLECTIONS } from './packages.ts'

const page = readFileSync(new URL('../../../../docs/mail-collections.md', import.meta.url), 'utf8')

describe('the page about mail collections', () => {
  it('lists every collection with its number of mails, and no other', () => {
    const rows = [...page.matchAll(/^\| (\S+)[^|]* \| (\S+) \| ([a-z-]+) \| (\d+) \|$/gm)]
    expect(rows.map(([, name, version, client, count]) => [name, version, client, Number(count)])).toEqual(
      COLLECTIONS.map(({ name, version, client, count }) => [name, version, client, count]),
    )
  })

  it('has the sum of them', () => {
    const sum = COLLECTIONS.reduce((all, { count }) => all + count, 0)
    expect(page).toContain(`these ${sum.toLocaleString('en-US')} mails`)
  })
})
