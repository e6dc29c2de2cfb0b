import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const MOST_LINES = 1_000

/** Lines of TypeScript in each folder, without its subfolders. */
function linesOfFolders(): Map<string, number> {
  const folders = ['libs', 'services', 'deploy', 'test-e2e', 'tools', 'helm']
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...folders]
  const names = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0')
  const lines = new Map<string, number>()
  for (const name of names.filter(isSource)) {
    const folder = dirname(name)
    const count = readFileSync(join(root, name), 'utf8').split('\n').length - 1
    lines.set(folder, (lines.get(folder) ?? 0) + count)
  }
  return lines
}

function isSource(name: string): boolean {
  return name.endsWith('.ts') && !/\/(generated|migrations)\//.test(name) && existsSync(join(root, name))
}

describe('the folders of the repository', () => {
  it(`hold at most ${MOST_LINES} lines of TypeScript each, or are divided`, () => {
    const tooLarge = [...linesOfFolders()].filter(([, lines]) => lines > MOST_LINES)
    expect(
      tooLarge.map(
        ([folder, lines]) => `${folder} has ${lines} lines: group its files into folders by what they are for`,
      ),
    ).toEqual([])
  })
})
