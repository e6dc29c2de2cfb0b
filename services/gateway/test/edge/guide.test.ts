import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { startGateway, type TestGateway } from '../gateway.ts'

const PACKAGE = path.resolve(import.meta.dirname, '../..')
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
})
