import { request } from 'undici'
import { startGateway, type TestGateway } from '../gateway.ts'

const token = (last: string) => 'a'.repeat(43 - last.length) + last

describe('the image that tells of opening', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({})
  })
  afterAll(() => gateway.stop())
  beforeEach(() => {
    gateway.behind.opened.length = 0
    gateway.behind.refusing.clear()
  })

  async function load(path: string, method: 'GET' | 'HEAD' | 'POST' | 'OPTIONS' = 'GET') {
    const { statusCode: status, headers, body } = await request(`${gateway.url}${path}`, { method })
    return { status, headers, bytes: Buffer.from(await body.arrayBuffer()) }
  }

  it('is a picture of one pixel that nothing keeps, and each loading is told to its owner', async () => {
    const { status, headers, bytes } = await load(`/o/${token('1')}`)
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'image/gif', 'cache-control': 'no-store' })
    expect([bytes.subarray(0, 6).toString(), bytes.readUInt16LE(6), bytes.readUInt16LE(8)]).toEqual(['GIF89a', 1, 1])
    expect(gateway.behind.opened).toEqual([token('1')])
  })

  it('is no opening at HEAD', async () => {
    const { status, headers, bytes } = await load(`/o/${token('2')}`, 'HEAD')
    expect([status, headers['content-type'], bytes.length]).toEqual([200, 'image/gif', 0])
    expect(gateway.behind.opened).toEqual([])
  })

  it.each(['/o/', '/o/short', `/o/${token('3')}x`, '/o/../../v0/inboxes', `/o/${token('%00')}`])(
    'is the same picture at %s, which is no token and reaches nobody',
    async (path) => {
      const { status, headers } = await load(path)
      if (path.includes('..')) expect(status).toBe(401)
      else expect([status, headers['content-type']]).toEqual([200, 'image/gif'])
      expect(gateway.behind.opened).toEqual([])
    },
  )

  it('is the same picture while its owner is down', async () => {
    gateway.behind.refusing.add('/internal/opens/record')
    const { status, headers } = await load(`/o/${token('4')}`)
    expect([status, headers['content-type']]).toEqual([200, 'image/gif'])
  })

  it('has no other methods', async () => {
    for (const method of ['POST', 'OPTIONS'] as const) {
      const { status, headers } = await load(`/o/${token('5')}`, method)
      expect([status, headers['allow']]).toEqual([405, 'GET, HEAD'])
    }
    expect(gateway.behind.opened).toEqual([])
  })
})
