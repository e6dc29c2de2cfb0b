import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { startGateway, type TestGateway } from './gateway.ts'

const PACKAGE = path.resolve(import.meta.dirname, '..')
const GUIDE = path.resolve(PACKAGE, '../../docs/guide-agents.md')
const README = path.resolve(PACKAGE, '../../README.md')

describe('the guide for agents', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  it.each([README, GUIDE])('signs up with what %s says, under the defaults of an installation', async (file) => {
    const [, body = ''] = /agent\/sign-up \\?\s*-d '([^']+)'/.exec(await readFile(file, 'utf8')) ?? []
    const wanted = { ...JSON.parse(body), username: `first-${path.parse(file).name.toLowerCase()}` }
    expect(wanted).toMatchObject({ human_email: expect.any(String) })
    expect(await gateway.as().post('/v0/agent/sign-up', wanted)).toMatchObject({ status: 200 })
  })

  it('signs requests with a program that works as it stands', async () => {
    const organization = await gateway.organization()
    const programs = [...(await readFile(GUIDE, 'utf8')).matchAll(/```ts\n(.*?)```/gs)].map(
      ([, program = '']) => program,
    )
    const [program = ''] = programs.filter((one) => one.includes('createSignature'))
    const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', program], {
      cwd: PACKAGE,
      env: { PATH: process.env['PATH'], BASE: gateway.url, API_KEY: organization.key },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [printed, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    expect(complaints).toBe('')
    expect(printed).toContain('signed-for@restante.test')
    const { body } = await organization.api.get('/v0/api-keys/laptop')
    expect(printed).toContain(String(body['api_key_id']))
  })
})
