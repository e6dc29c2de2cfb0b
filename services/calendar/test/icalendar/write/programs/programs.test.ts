import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describeAtFullLength, freePort, waitFor } from '@restante/testkit'
import { type Vector, vectors } from './vectors.ts'

const HERE = import.meta.dirname
const FOLDER = path.resolve(HERE, '../../../../../../.restante')
const PLACE = path.join(FOLDER, 'calendar-python')
const JARS = path.join(FOLDER, 'calendar-java')
const PYTHON = path.join(PLACE, 'bin/python3')
/** Python of the distribution, which has libical. */
const SYSTEM_PYTHON = '/usr/bin/python3'

function missing(): string[] {
  try {
    const check = "import gi; gi.require_version('ICalGLib', '3.0')"
    execFileSync(SYSTEM_PYTHON, ['-c', check], { stdio: 'ignore' })
    return []
  } catch {
    return ['python3-gi and gir1.2-ical-3.0']
  }
}

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

describeAtFullLength({ programs: ['python3', 'java', 'mvn'], missing: missing() }, 'calendar objects', () => {
  beforeAll(async () => {
    if (existsSync(PYTHON)) return
    await mkdir(path.dirname(PLACE), { recursive: true })
    execFileSync('python3', ['-m', 'venv', PLACE])
    const requirements = path.join(HERE, 'requirements.txt')
    execFileSync(PYTHON, ['-m', 'pip', 'install', '--quiet', '--no-deps', '-r', requirements], { stdio: 'ignore' })
  }, 180_000)

  it('are valid to libical, which finds the same dates in them', () => {
    expect(complaints(SYSTEM_PYTHON, [path.join(HERE, 'read.py'), 'libical'], vectors())).toEqual([])
  }, 60_000)

  it('are valid to icalendar, which finds the same dates in them', () => {
    expect(complaints(PYTHON, [path.join(HERE, 'read.py'), 'icalendar'], vectors())).toEqual([])
  }, 60_000)

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

  it('are stored by Radicale, a CalDAV server, which expands them to the same dates', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'radicale-'))
    const url = `http://127.0.0.1:${await freePort()}/`
    const config = path.join(folder, 'config')
    const host = new URL(url).host
    await writeFile(
      config,
      `[server]\nhosts = ${host}\n[auth]\ntype = none\n[storage]\nfilesystem_folder = ${folder}/data\n`,
    )
    const server = spawn(PYTHON, ['-m', 'radicale', '--config', config], { stdio: 'ignore' })
    try {
      await waitFor(() => fetch(url).catch(() => undefined), { what: 'Radicale', timeout: 30_000 })
      // Radicale takes a zone that is at UTC at first for UTC itself. It takes a second for each.
      const read = vectors().filter(({ name }, at) => at % 10 === 0 && !/Dublin|Casablanca/.test(name))
      expect(complaints(PYTHON, [path.join(HERE, 'store.py'), url], read)).toEqual([])
    } finally {
      server.kill()
      await once(server, 'exit')
      await rm(folder, { recursive: true, force: true })
    }
  }, 180_000)
})
