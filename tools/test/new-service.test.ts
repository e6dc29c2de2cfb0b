import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { newService } from '../new-service/new-service.ts'

const root = path.resolve(import.meta.dirname, '../..')
const LISTS = [
  'libs/contracts/src/vocabulary/services.ts',
  'libs/contracts/src/internal/table.ts',
  'helm/restante/values.yaml',
]

describe('npm run new-service', () => {
  let copy: string
  const read = (file: string) => readFile(path.join(copy, file), 'utf8')

  beforeEach(async () => {
    copy = await mkdtemp(path.join(tmpdir(), 'new-service-'))
    for (const file of LISTS) await cp(path.join(root, file), path.join(copy, file))
  })
  afterEach(() => rm(copy, { recursive: true }))

  it('writes a service, and names it in four files outside its folder', async () => {
    const files = await newService(copy, 'agent-calendar', new Date('2030-01-02T03:04:05Z'))
    expect(files.filter((file) => !file.startsWith('services/agent-calendar/'))).toEqual([
      'libs/contracts/src/internal/agent-calendar.ts',
      ...LISTS,
    ])
    expect(files).toContain('services/agent-calendar/prisma/migrations/20300102030405_init/migration.sql')
    expect(files).toContain('services/agent-calendar/test/agent-calendar.test.ts')
    expect(await read('libs/contracts/src/vocabulary/services.ts')).toMatch(
      /SERVICES = \[[^\]]*'agent-calendar'[^\]]*\] as const/,
    )
    expect(await read('libs/contracts/src/internal/table.ts')).toContain('  ...agentCalendarInternalOperations,\n}')
    expect(await read('helm/restante/values.yaml')).toMatch(/\nservices:\n(?: {2}.*\n)+ {2}agent-calendar: \{\}\n$/)
  })

  it('leaves no placeholder, and only sources that Node can read', async () => {
    for (const file of await newService(copy, 'agent-calendar', new Date())) {
      const text = await read(file)
      expect(text).not.toMatch(/__(name|camel)__/)
      if (file.endsWith('.ts')) expect(() => stripTypeScriptTypes(text)).not.toThrow()
      if (file.endsWith('.json')) expect(() => JSON.parse(text)).not.toThrow()
    }
  })

  it('imports only files of the repository, or of the service itself', async () => {
    const files = await newService(copy, 'agent-calendar', new Date())
    const written = new Set(files.map((file) => path.join(root, file)))
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      for (const [, target = ''] of (await read(file)).matchAll(/from '(\.[^']+)'/g)) {
        const imported = path.resolve(root, path.dirname(file), target)
        expect(written.has(imported) || existsSync(imported) ? '' : `${file} imports ${target}`).toBe('')
      }
    }
  })

  it.each(['', 'Calendar', 'calendar_agents', '../calendar', '-x'])('refuses the name %j', async (name) => {
    await expect(newService(copy, name, new Date())).rejects.toThrow('Usage')
  })

  it('refuses a service that exists', async () => {
    await newService(copy, 'agent-calendar', new Date())
    await expect(newService(copy, 'agent-calendar', new Date())).rejects.toThrow('exists already')
  })
})
