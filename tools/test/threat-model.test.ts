import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/threat-model.md'), 'utf8')
const tests = execFileSync('git', ['ls-files', '*.test.ts'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '')
  .map((file) => `/${file}`)

/** The rows of the tables that name tests: threat, defence, test. */
const rows = page.split('\n## ').flatMap((section) => {
  const lines = section.split('\n').filter((line) => line.startsWith('| '))
  if (!lines[0]?.endsWith('| Shown by |')) return []
  return lines.slice(1).map((line) => {
    const [threat, , shownBy = ''] = line.slice(2, -2).split(' | ')
    return { threat, names: [...shownBy.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name) }
  })
})

function exists(name: string): boolean {
  const path = name.replace(/\/\*$/, '')
  return tests.some((file) => file.endsWith(`/${path}.test.ts`) || file.includes(`/${path}/`))
}

describe('the threat model', () => {
  it('names a test in each of its rows', () => {
    expect(rows.length).toBeGreaterThan(30)
    expect(rows.filter(({ names }) => names.length === 0)).toEqual([])
  })

  it('names only existing tests', () => {
    expect(rows.flatMap(({ names }) => names).filter((name) => !exists(name))).toEqual([])
  })
})
