import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describeAtFullLength, missingPython, pythonEnvironment } from '@restante/testkit'
import { withServer } from './caldav-servers.ts'
import { type Vector, vectors } from './vectors.ts'

const HERE = import.meta.dirname
const JARS = path.resolve(HERE, '../../../../../../.restante/calendar-java')
/** Python of the distribution, which has libical. */
const SYSTEM_PYTHON = '/usr/bin/python3'

function missingLibical(): string[] {
  try {
    const check = "import gi; gi.require_version('ICalGLib', '3.0')"
    execFileSync(SYSTEM_PYTHON, ['-c', check], { stdio: 'ignore' })
    return []
  } catch {
    return ['python3-gi and gir1.2-ical-3.0']
  }
}

const NEEDS = { programs: ['python3', 'java', 'mvn'], packages: [...missingLibical(), ...missingPython()] }

/** What a program says that is wrong with objects. */
function complaints(program: string, args: readonly string[], read: readonly Vector[]): string[] {
  const input = read.map((vector) => `${JSON.stringify(vector)}\n`).join('')
  const output = execFileSync(program, args, {
    input,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  return output.split('\n').filter((line) => line !== '')
}

describeAtFullLength(NEEDS, 'calendar objects', () => {
  let python: string
  beforeAll(async () => {
    python = await pythonEnvironment(path.join(HERE, 'requirements.txt'))
  }, 180_000)

  it('are valid to libical, which finds the same dates in them', () => {
    expect(complaints(SYSTEM_PYTHON, [path.join(HERE, 'read.py'), 'libical'], vectors())).toEqual([])
  })

  it('are valid to icalendar, which finds the same dates in them', () => {
    expect(complaints(python, [path.join(HERE, 'read.py'), 'icalendar'], vectors())).toEqual([])
  })

  it('are valid to ical4j, which finds the same dates in them where it reads zones', async () => {
    if (!existsSync(JARS)) {
      const goal = ['-q', '-B', '-f', path.join(HERE, 'pom.xml'), 'dependency:copy-dependencies']
      execFileSync('mvn', [...goal, `-DoutputDirectory=${JARS}`], { stdio: 'ignore' })
    }
    // It takes the second Sunday of a month for the first one from the 2nd on, and does not read changes that are named.
    const isRead = ({ name }: Vector) => !/New_York|St_Johns|Cairo|Casablanca/.test(name)
    const read = vectors().map((vector) => (isRead(vector) ? vector : { ...vector, dates: [] }))
    const args = ['-cp', path.join(JARS, '*'), path.join(HERE, 'Read.java')]
    expect(complaints('java', args, read)).toEqual([])
  }, 180_000)

  it.each([
    // It takes a zone that is at UTC at first for UTC itself.
    ['Radicale', /Dublin|Casablanca/],
    ['xandikos', /^$/],
  ] as const)(
    'are stored by %s, a CalDAV server, which expands them to the same dates and gives them back',
    async (server, unread) => {
      await withServer(server, python, (url) => {
        // Radicale takes a second for each.
        const read = vectors().filter(({ name }, at) => at % 10 === 0 && !unread.test(name))
        expect(complaints(python, [path.join(HERE, 'store.py'), url], read)).toEqual([])
      })
    },
    180_000,
  )
})
