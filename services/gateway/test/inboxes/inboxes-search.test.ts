import { type Answer, type Api, startGateway, type TestGateway } from '../gateway.ts'

describe('GET /v0/inboxes/search', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({ SHARED_DOMAINS: 'second.test' })
  })
  afterAll(() => gateway.stop())

  const addressesIn = ({ body }: Answer): string[] => {
    const { inboxes } = body
    return Array.isArray(inboxes) ? inboxes.map(({ inbox_id }) => inbox_id) : []
  }
  const search = async (api: Api, q: string, more = '') =>
    addressesIn(await api.get(`/v0/inboxes/search?q=${encodeURIComponent(q)}${more}`))

  /** An organization with these inboxes, the first one oldest. */
  async function holding(...inboxes: object[]) {
    const made = await gateway.organization()
    for (const inbox of inboxes) expect((await made.api.post('/v0/inboxes', inbox)).status).toBe(200)
    return made
  }

  /** Names that no other test uses, for addresses belong to one organization. */
  let count = 0
  const unique = (name: string) => `${name}${++count}`

  describe('200', () => {
    it('answers with inboxes as lists do', async () => {
      const { api } = await holding({ username: unique('shape'), display_name: 'Shape', metadata: { a: 1 } })
      const { status, body } = await api.get('/v0/inboxes/search?q=shape')
      const listed = await api.get('/v0/inboxes')
      expect([status, body]).toEqual([200, listed.body])
      expect((await api.get('/v0/inboxes/search?q=shape&limit=7')).body['limit']).toBe(7)
      expect((await api.get('/v0/inboxes/search?q=nothing')).body).toEqual({ count: 0, inboxes: [] })
    })

    it('finds every word by its beginning, in address and name, whatever its case and accents', async () => {
      const name = unique('front')
      const { api } = await holding({ username: `${name}-desk.Berlin`, display_name: 'Zoë Müller (Sales)' })
      const address = `${name}-desk.berlin@restante.test`
      const hits = [
        name,
        'desk',
        'berl',
        'rest',
        'zoe',
        'MÜL',
        'muller',
        'sal',
        'zoë desk',
        `sales ${name}`,
        `${name}-d`,
      ]
      for (const q of [...hits, address, address.toUpperCase(), '  desk  ', 'ZOË\u0308']) {
        expect([q, await search(api, q)]).toEqual([q, [address]])
      }
      for (const q of ['ront', 'desk munich', 'berlina', 'zz', '--', '🎉🎉', 'de\u0000sk']) {
        expect([q, await search(api, q)]).toEqual([q, []])
      }
    })

    it('puts the exact local part first, then addresses that begin with the text, then words; each newest first', async () => {
      const word = unique('rank')
      const { api } = await holding(
        { username: `${word}-a` },
        { username: unique('named'), display_name: `The ${word}` },
        { username: word },
        { username: `x-${word}` },
        { username: `${word}-b` },
        { username: word, domain: 'second.test' },
      )
      const found = await search(api, word)
      expect(found.map((address) => address.replace(/named\d+/, 'named'))).toEqual([
        `${word}@second.test`,
        `${word}@restante.test`,
        `${word}-b@restante.test`,
        `${word}-a@restante.test`,
        `x-${word}@restante.test`,
        'named@restante.test',
      ])
      expect((await search(api, `${word}@restante.test`))[0]).toBe(`${word}@restante.test`)
      expect((await search(api, `${word}@`)).slice(0, 2)).toEqual([`${word}@second.test`, `${word}@restante.test`])
    })

    it('reflects the last write: created, renamed, paused, deleted', async () => {
      const username = unique('fresh')
      const { api } = await holding({ username, display_name: 'Before' })
      const address = `${username}@restante.test`
      expect(await search(api, 'before')).toEqual([address])
      await api.patch(`/v0/inboxes/${address}`, { display_name: 'After', status: 'paused' })
      expect([await search(api, 'before'), await search(api, 'after')]).toEqual([[], [address]])
      await api.patch(`/v0/inboxes/${address}`, { display_name: '' })
      expect([await search(api, 'after'), await search(api, username)]).toEqual([[], [address]])
      await api.delete(`/v0/inboxes/${address}`)
      expect(await search(api, username)).toEqual([])
      expect(await gateway.db.orm.inboxWord.count({ where: { word: username } })).toBe(0)
    })

    it('walks through pages, each inbox once, in the order of one long page, despite concurrent creates', async () => {
      const word = unique('paged')
      const { api } = await holding(
        ...[1, 2, 3].map((at) => ({ username: `${word}.${at}` })),
        { username: word },
        ...[1, 2, 3].map((at) => ({ username: `n${at}.${word}` })),
      )
      const whole = await search(api, word)
      expect(whole).toHaveLength(7)
      for (const limit of [1, 2, 3, 7]) {
        const seen: string[] = []
        let token = ''
        do {
          const page = await api.get(`/v0/inboxes/search?q=${word}&limit=${limit}${token}`)
          expect(page.status).toBe(200)
          seen.push(...addressesIn(page))
          const next = page.body['next_page_token']
          token = next === undefined ? '' : `&page_token=${encodeURIComponent(String(next))}`
          if (seen.length === 1) await api.post('/v0/inboxes', { username: `new${limit}.${unique(word)}` })
        } while (token !== '')
        expect([limit, seen.filter((address) => !address.startsWith('new'))]).toEqual([limit, whole])
        expect(new Set(seen).size).toBe(seen.length)
        await deleteNew(api, word)
      }
    })

    /** Inboxes that the previous page did not include. */
    async function deleteNew(api: Api, word: string): Promise<void> {
      for (const address of (await search(api, word)).filter((found) => found.startsWith('new'))) {
        await api.delete(`/v0/inboxes/${address}`)
      }
    }

    it('shows each key what is in its scope', async () => {
      const word = unique('scoped')
      const { id, api } = await holding({ username: `a-${word}` }, { username: `b-${word}` })
      const pod = String((await api.post('/v0/pods')).body['pod_id'])
      await api.post(`/v0/pods/${pod}/inboxes`, { username: `c-${word}` })
      const stranger = await gateway.organization()
      const podKey = gateway.as((await gateway.operator.createKey({ organizationId: id, pod })).secret)
      const inbox = `a-${word}@restante.test`
      const inboxKey = gateway.as((await gateway.operator.createKey({ organizationId: id, inbox })).secret)
      expect(await search(api, word)).toHaveLength(3)
      expect(await search(podKey, word)).toEqual([`c-${word}@restante.test`])
      expect(await search(inboxKey, word)).toEqual([inbox])
      expect(await search(stranger.api, word)).toEqual([])
      const inPod = await api.get(`/v0/pods/${pod}/inboxes/search?q=${word}`)
      expect(addressesIn(inPod)).toEqual([`c-${word}@restante.test`])
    })

    it('wins over an inbox that has the word as its client_id', async () => {
      const { api } = await holding({ client_id: 'search', username: unique('alias') })
      expect((await api.get('/v0/inboxes/search?q=alias')).body['count']).toBe(1)
    })
  })

  describe('400', () => {
    it.each([
      ['', 'q'],
      ['?q=', 'q'],
      ['?q=a', 'q'],
      ['?q=%20a%20', 'q'],
      [`?q=${'a'.repeat(257)}`, 'q'],
      ['?q=ab&q=cd', 'q'],
      ['?q=ab&limit=101', 'limit'],
      ['?q=ab&limit=0', 'limit'],
      ['?q=ab&limit=x', 'limit'],
      ['?q=ab&page_token=', 'page_token'],
      ['?q=ab&page_token=made-up', 'page_token'],
    ])('%s at its parameter', async (query, path) => {
      const { api } = await gateway.organization()
      const answer = await api.get(`/v0/inboxes/search${query}`)
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error', errors: [{ path: [path] }] } })
    })

    it('refuses a token of another search, scope or list, and takes it with another limit', async () => {
      const word = unique('token')
      const { id, api } = await holding({ username: `${word}-1` }, { username: `${word}-2` }, { username: `${word}-3` })
      const first = await api.get(`/v0/inboxes/search?q=${word}&limit=1`)
      const token = `page_token=${encodeURIComponent(String(first.body['next_page_token']))}`
      expect((await api.get(`/v0/inboxes/search?q=${word}&limit=2&${token}`)).body['count']).toBe(2)
      for (const path of [
        `/v0/inboxes/search?q=${word}-&${token}`,
        `/v0/pods/${id}/inboxes/search?q=${word}&${token}`,
        `/v0/inboxes?${token}`,
      ]) {
        expect((await api.get(path)).body).toMatchObject({ errors: [{ path: ['page_token'] }] })
      }
    })
  })

  it('403 without inbox_read', async () => {
    const { id } = await gateway.organization()
    const { secret } = await gateway.operator.createKey({ organizationId: id, permissions: ['inbox_update'] })
    expect((await gateway.as(secret).get('/v0/inboxes/search?q=ab')).body['code']).toBe('missing_permission')
  })

  it('404 in a missing pod', async () => {
    const { api } = await gateway.organization()
    expect((await api.get('/v0/pods/nowhere/inboxes/search?q=a')).body['message']).toBe('Pod not found')
  })
})
