import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { FILES, PAGES } from '../../../src/edge/documents/library/catalog.ts'

const root = path.resolve(import.meta.dirname, '../../../../..')
const lines = async (file: string) => (await readFile(path.join(root, file), 'utf8')).split('\n')
const rules = (await lines('.dockerignore')).filter((line) => line !== '' && !line.startsWith('#'))

/** Whether a file is among what an image is built from: the last rule that matches it or a folder above it decides. */
function isAdmitted(file: string): boolean {
  const deciding = rules.findLast((rule) => {
    const pattern = rule.replace(/^!/, '')
    return path.matchesGlob(file, pattern) || path.matchesGlob(file, `${pattern}/**`)
  })
  return deciding?.startsWith('!') === true
}

describe('the container image', () => {
  it.each(['api/openapi.json', ...PAGES.map(({ file }) => file), ...Object.keys(FILES)])(
    'contains docs/%s, which exists',
    async (file) => {
      expect((await readFile(path.join(root, 'docs', file))).length).toBeGreaterThan(0)
      expect(isAdmitted(`docs/${file}`)).toBe(true)
    },
  )

  it('contains no document that is not served', () => {
    for (const file of ['docs/threat-model.md', 'docs/images/trace.svg', 'docs/decisions/README.md']) {
      expect(isAdmitted(file)).toBe(false)
    }
  })

  it('takes all documents that it is built from', async () => {
    expect(await lines('deploy/image/Dockerfile')).toContain('COPY docs docs')
  })
})
