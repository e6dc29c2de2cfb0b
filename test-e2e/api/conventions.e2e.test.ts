import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { BINARY, type OperationDefinition, operations, PREFIX, pathsOf, UPGRADE } from '@restante/contracts/operations'
import { LIMITS, type Tier } from '@restante/contracts/vocabulary'
import { byLength, sampleByLength, waitFor } from '@restante/testkit'
import pg from 'pg'
import { z } from 'zod'
import type { Answer } from '../support/api.ts'
import { newAccount, newApp } from '../support/apps/accounts.ts'
import { newEvent } from '../support/calendars.ts'
import { rightCall } from '../support/calls/right-calls.ts'
import { mailTo } from '../support/mail.ts'
import { createOrganization, newDomainName, pathTo, type TestOrganization } from '../support/organizations.ts'
import { registerKey } from '../support/signed.ts'
import { useSystem } from '../support/suite.ts'

const ORDER = Object.values<OperationDefinition>(operations)
/** Every operation that answers a request, under each of its prefixes. */
const routes = ORDER.filter(({ response }) => response !== UPGRADE).flatMap((operation) =>
  pathsOf(operation).map(({ tier, path }) => ({ name: `${operation.method} ${path}`, operation, prefix: tier })),
)
const withKey = routes.filter(({ operation }) => operation.authentication === 'key')
const reads = withKey.filter(({ operation }) => operation.method === 'GET')
/**
 * Those that are asked. One code answers under all prefixes, so in the short form each operation is asked under one of
 * them, in turn.
 */
function asked<Route extends { readonly operation: OperationDefinition; readonly prefix: Tier }>(
  all: readonly Route[],
) {
  const short = all.filter(({ operation, prefix }) => {
    const tiers = pathsOf(operation).map(({ tier }) => tier)
    return prefix === tiers[ORDER.indexOf(operation) % tiers.length]
  })
  return byLength({ short, long: all })
}
/**
 * A sample of them, for conventions that the server of every service keeps before it knows the operation: in the short
 * form one of three operations of each service, of each method.
 */
function sampled<Route extends { readonly operation: OperationDefinition; readonly prefix: Tier }>(
  all: readonly Route[],
) {
  const kinds = Map.groupBy(asked(all), ({ operation }) => `${operation.service} ${operation.method}`)
  return [...kinds.values()].flatMap((kind) => sampleByLength(3, kind))
}
/** All organizations see one catalog of apps, which other suites change: its lists are tested by its service. */
const CATALOG = /^\/(apps|providers)$/
const lists = reads.filter(
  ({ operation: { query, path } }) => 'page_token' in query.shape && !path.includes('{') && !CATALOG.test(path),
)
/** Operations that an ordinary organization may call. */
const takingBody = withKey.filter(
  ({ operation }) => operation.body !== undefined && operation.permission !== 'agent_verify',
)

/** Number of entries of each list, at every prefix. */
const ENTRIES = 3
/** Lists of other things that get the token of a list: at full length all, else those that follow it. */
const OTHER_LISTS = byLength({ short: 3, long: lists.length })
/** The search term. */
const FOUND = 'box'
const JSON_TYPE = 'application/json; charset=utf-8'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('every operation keeps to the conventions', () => {
  const system = useSystem()
  let organization: TestOrganization
  beforeAll(async () => {
    organization = await createOrganization(system)
    await fill(organization)
  })

  describe('of the wire', () => {
    it.each(sampled(reads))('$name: HEAD is GET without the body', async ({ operation, prefix }) => {
      const path = pathOf(operation, prefix)
      const ask = async (method: string) =>
        describeContent(await organization.owner.request(method, path, { headers: { 'accept-encoding': 'identity' } }))
      // What is shown may change between two requests: when a key was last used is noted a moment after its use.
      const [before, head, after] = [await ask('GET'), await ask('HEAD'), await ask('GET')]
      expect([before, after]).toContainEqual(head)
    })

    it.each(sampled(reads))('$name: one trailing slash is tolerated, two are not', async ({ operation, prefix }) => {
      const [path, query = ''] = pathOf(operation, prefix).split('?')
      expect((await organization.owner.get(`${path}/?${query}`)).status).toBe(operation.status)
      expectNoRoute(await organization.owner.get(`${path}//?${query}`))
    })

    it.each(sampled(reads))('$name: unknown parameters and headers are ignored', async ({ operation, prefix }) => {
      const path = pathOf(operation, prefix)
      const headers = { 'x-fern-language': 'JavaScript', 'x-fern-sdk-version': '0', 'idempotency-key': 'no good' }
      const answer = await organization.owner.get(withQuery(path, 'unheard_of=1'), { headers })
      expect(answer.status).toBe(operation.status)
    })

    it.each(asked(withKey))('$name: success and errors have the headers of the API', async ({ operation, prefix }) => {
      const refused = await organization.owner.request(operation.method, pathOf(operation, prefix), {
        headers: { authorization: 'Bearer am_us_unknown' },
      })
      expect(refused).toMatchObject({
        status: 401,
        body: {
          name: 'UnauthorizedError',
          code: 'unknown_api_key',
          docs: expect.stringMatching(/\/errors#unknown_api_key$/),
        },
      })
      expect(refused.headers.get('x-should-retry')).toBe('false')
      expectHeaders(refused)
      if (operation.method !== 'GET') return
      expectHeaders(await organization.owner.get(pathOf(operation, prefix)), contentTypeOf(operation))
    })

    it.each(sampled(routes))('$name: a preflight needs no key', async ({ operation, prefix }) => {
      const answer = await organization.owner.request('OPTIONS', pathOf(operation, prefix), {
        headers: { authorization: '' },
      })
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    })

    it('an unsupported method has no route, and the supported ones are named', async () => {
      const asking = [...methodsByPath()].map(async ([path, methods]) => {
        const other = ['PUT', 'DELETE', 'PATCH', 'POST', 'GET'].find((method) => !methods.includes(method)) ?? 'PUT'
        const answer = await organization.owner.request(other, path)
        expectNoRoute(answer)
        expect([path, new Set(answer.headers.get('allow')?.split(', '))]).toEqual([
          path,
          new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']),
        ])
      })
      await Promise.all(asking)
    })

    it('ids are accepted unencoded, and addresses in any letter case', async () => {
      const { inbox_id: inbox = '', message_id: message = '' } = organization.named
      for (const path of [
        `/v0/inboxes/${inbox}/messages/${message}`,
        `/v0/inboxes/${inbox.toUpperCase()}/messages/${message}/`,
        `/v0/inboxes/${encodeURIComponent(inbox)}/messages/${encodeURIComponent(message)}`,
      ]) {
        expect([path, await statusOf(path)]).toEqual([path, 200])
      }
    })

    it('no operation is offered below nested prefixes', async () => {
      const nested = withKey.filter(({ prefix, operation }) => prefix === 'inbox' && operation.path !== '')
      const asking = nested.map(async ({ operation }) => {
        const path = `${PREFIX.pod}${PREFIX.inbox.slice('/v0'.length)}${operation.path}`
        const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          encodeURIComponent(organization.named[name] ?? ''),
        )
        expectNoRoute(await organization.owner.request(operation.method, filled))
      })
      await Promise.all(asking)
    })
  })

  describe('of bodies', () => {
    it.each(sampled(takingBody))('$name: a body is JSON whatever its content type', async ({ operation, prefix }) => {
      const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1']
      const asked = types.map((type) => send(operation, prefix, '{"half": ', { 'content-type': type }))
      for (const answer of await Promise.all(asked)) {
        expect(answer).toMatchObject({
          status: 400,
          body: { name: 'SyntaxError', code: 'validation_error', errors: [{ path: [] }] },
        })
      }
    })

    it.each(asked(takingBody))('$name: an absent body is the empty object', async ({ operation, prefix }) => {
      const answers = [await send(operation, prefix, undefined), await send(operation, prefix, {})]
      const [bare, empty] = answers.map(({ status, body }) => ({ status, errors: body['errors'] }))
      expect(bare).toEqual(empty)
      expect([operation.status, 400, 422]).toContain(bare?.status)
    })

    it.each(asked(takingBody))('$name: a body above its size is 413', async ({ operation, prefix }) => {
      const { bytes, answer } = operation.bodyLimit
      const refused = await send(operation, prefix, JSON.stringify({ x: 'x'.repeat(bytes) }))
      expect(refused.status).toBe(413)
      if (answer === 'infrastructure') expect(refused.body).toEqual({ message: expect.any(String) })
      else expect(refused.body).toMatchObject({ name: 'PayloadTooLargeError', code: 'payload_too_large' })
    })
  })

  describe('of lists', () => {
    it.each(asked(lists))(
      '$name: pages of one item make up the list, in either direction',
      async ({ operation, prefix }) => {
        const whole = await page(operation, prefix, '')
        expect(whole.ids.length).toBeGreaterThanOrEqual(ENTRIES)
        expect(new Set(whole.ids).size).toBe(whole.ids.length)
        expect(whole.body).toMatchObject({ count: whole.ids.length })
        expect('limit' in whole.body).toBe(alwaysNamesLimit(operation))
        expect(await walk(operation, prefix, 'limit=1')).toEqual(whole.ids)
        if ('ascending' in operation.query.shape) {
          expect(await walk(operation, prefix, 'limit=2&ascending=true')).toEqual(whole.ids.toReversed())
        }
      },
    )

    it.each(asked(lists))('$name: limit bounds the page', async ({ operation, prefix }) => {
      const wrong = ['0', '-1', '1.5', '1e2', 'x', '+1', '%201', 'true']
      for (const answer of await Promise.all(wrong.map((limit) => ask(operation, prefix, `limit=${limit}`)))) {
        expect(answer).toMatchObject({
          status: 400,
          body: { code: 'validation_error', errors: [{ path: ['limit'] }] },
        })
      }
      const cap = /threads|messages|drafts/.test(operation.path) ? LIMITS.page.maxMail : LIMITS.page.max
      const above = await ask(operation, prefix, `limit=${cap + 1}`)
      // A search rejects a limit that a list reduces.
      if ('q' in operation.query.shape)
        expect(above).toMatchObject({ status: 400, body: { errors: [{ path: ['limit'] }] } })
      else expect(above).toMatchObject({ status: 200, body: { limit: cap } })
      expect('limit' in (await page(operation, prefix, 'limit=')).body).toBe(alwaysNamesLimit(operation))
    })

    it.each(asked(lists))(
      '$name: a token belongs to its list, scope and direction',
      async ({ operation, prefix, name }) => {
        const token = String((await page(operation, prefix, 'limit=1')).body['next_page_token'])
        const turn = lists.findIndex((list) => list.name === name)
        const next = [...lists, ...lists].slice(turn + 1, turn + 1 + OTHER_LISTS)
        const foreign: Promise<Answer>[] = lists
          .filter((other) => other.operation !== operation || other.prefix !== prefix)
          .filter((other) => other.operation === operation || next.includes(other))
          .map((other) => ask(other.operation, other.prefix, `page_token=${token}`))
        const own = ['&ascending=true', '&labels=x', '&before=2020-01-01T00:00:00Z']
          .filter((more) => /\w+/.exec(more)?.some((name) => name in operation.query.shape))
          .map((more) => ask(operation, prefix, `page_token=${token}${more}`))
        const altered = ['', 'x', `${token}A`, `${token.slice(0, -4)}AAAA`, token.toUpperCase()].map((wrong) =>
          ask(operation, prefix, `page_token=${wrong}`),
        )
        for (const answer of await Promise.all([...foreign, ...own, ...altered])) {
          expect(answer).toMatchObject({
            status: 400,
            body: { name: 'ValidationError', code: 'validation_error', errors: [{ path: ['page_token'] }] },
          })
        }
      },
    )
  })

  function pathOf(operation: OperationDefinition, prefix: Tier): string {
    return `${pathTo(operation, prefix, { ...organization.named, token: 'token' })}${rightCall(operation).query ?? ''}`
  }

  function ask(operation: OperationDefinition, prefix: Tier, query: string): Promise<Answer> {
    return organization.owner.get(withQuery(pathOf(operation, prefix), query))
  }

  function send(operation: OperationDefinition, prefix: Tier, body: unknown, headers: Record<string, string> = {}) {
    return organization.owner.request(operation.method, pathOf(operation, prefix), { body, headers })
  }

  /** One page of a list: the response, and the ids of its entries. */
  async function page(operation: OperationDefinition, prefix: Tier, query: string) {
    const { status, body } = await ask(operation, prefix, query)
    expect([status, body['code']]).toEqual([200, undefined])
    const [entries = []] = Object.values(body).filter((member) => Array.isArray(member))
    return { body, ids: entries.map((entry) => JSON.stringify({ ...Object(entry), used_at: undefined })) }
  }

  async function walk(operation: OperationDefinition, prefix: Tier, query: string): Promise<string[]> {
    const all: string[] = []
    for (let token = ''; ; ) {
      const { body, ids } = await page(operation, prefix, `${query}${token}`)
      all.push(...ids)
      if (body['next_page_token'] === undefined) return all
      token = `&page_token=${body['next_page_token']}`
    }
  }

  /** The status of a request whose path is sent unchanged; `fetch` would encode it. */
  async function statusOf(path: string): Promise<number | undefined> {
    const key = await organization.keyOf('organization')
    const headers = { authorization: `Bearer ${key}` }
    const outgoing = request(`${system.endpoints.gatewayUrl}`, { path, headers }).end()
    const [answer]: IncomingMessage[] = await once(outgoing, 'response')
    answer?.resume()
    return answer?.statusCode
  }

  /** Paths with values for all parameters, and their methods. */
  function methodsByPath(): Map<string, string[]> {
    const found = new Map<string, string[]>()
    for (const { operation, prefix } of routes) {
      const path = pathTo(operation, prefix, { ...organization.named, token: 'token' })
      found.set(path, [...(found.get(path) ?? []), operation.method])
    }
    return found
  }

  /** Creates as many of each as a list must contain. */
  async function fill({ client, owner, named, peer, keyOf }: TestOrganization): Promise<void> {
    const { inbox_id: inboxId = '', pod_id: podId = '' } = named
    const key = String(await keyOf('organization'))
    const inboxKeys = `/v0/inboxes/${encodeURIComponent(inboxId)}/api-keys`
    const more = Array.from({ length: ENTRIES }, (_, index) => index)
    await Promise.all(
      more.flatMap((index) => [
        client.pods.create({}),
        client.pods.inboxes.create(podId, { displayName: FOUND }),
        client.pods.domains.create(podId, { domain: newDomainName() }),
        client.inboxes.apiKeys.create(inboxId, {}),
        client.inboxes.webhooks.create(inboxId, { url: 'http://127.0.0.1:9/', eventTypes: ['message.sent'] }),
        mailTo({ tenant: { client }, peer }, inboxId, { subject: `Mail ${index}` }),
        registerKey(system.endpoints.gatewayUrl, key, {}, inboxKeys),
        newEvent(owner, inboxId, { title: `Event ${index}` }),
        newApp(system.endpoints).then((appId) => newAccount(system.endpoints, appId, inboxId)),
      ]),
    )
    await waitFor(() => isIndexed(inboxId), { what: 'the mails to be found by searches' })
  }

  /** Other files add mail to the system all the time. */
  async function isIndexed(inboxId: string): Promise<boolean> {
    const database = new pg.Client({ connectionString: system.endpoints.databases['mail-ingest'] })
    await database.connect()
    try {
      const unindexed = 'select id from unindexed_messages join messages using (id) where inbox_address = $1'
      return (await database.query(unindexed, [inboxId])).rowCount === 0
    } finally {
      await database.end()
    }
  }
})

/** Some lists name the limit that was applied also where none was asked for. */
function alwaysNamesLimit({ response }: OperationDefinition): boolean {
  return response instanceof z.ZodObject && response.shape['limit'] instanceof z.ZodOptional === false
}

function withQuery(path: string, query: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

function describeContent(answer: Answer | undefined) {
  const { status, headers } = answer ?? {}
  return [status, headers?.get('content-type'), headers?.get('content-length')]
}

function expectNoRoute(answer: Answer): void {
  expect(answer).toMatchObject({
    status: 404,
    body: { name: 'NotFoundError', code: 'not_found', message: 'Route not found' },
  })
}

/** The one operation with a key whose success is not JSON is a text. */
function contentTypeOf({ response }: OperationDefinition): string {
  return response === BINARY ? 'text/plain; charset=utf-8' : JSON_TYPE
}

function expectHeaders({ headers }: Answer, contentType = JSON_TYPE): void {
  expect(headers.get('x-request-id')).toMatch(UUID)
  expect(headers.get('access-control-allow-origin')).toBe('*')
  expect(headers.get('access-control-expose-headers')?.toLowerCase()).toBe('retry-after, x-request-id, etag')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('content-type')).toBe(contentType)
}
