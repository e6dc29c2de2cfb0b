import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import type { Webhook } from '@restante/contracts/resources'
import { callerOf } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'

let dispatcher: TestDispatcher
beforeAll(async () => {
  dispatcher = await startDispatcher()
})
afterAll(() => dispatcher.stop())

const BODY = { url: 'https://receiver.example/', event_types: ['message.received'] }

function inPod(organization: Caller, podId: string): Caller {
  return { ...organization, pod_id: podId, credential: { ...organization.credential, tier: 'pod' } }
}

function inInbox(organization: Caller, podId: string): Caller {
  const inbox = { uid: randomUUID(), address: `${randomUUID()}@restante.test`, pod_id: podId, paused: false }
  return { ...organization, pod_id: podId, inbox, credential: { ...organization.credential, tier: 'inbox' } }
}

/** One webhook in each scope of an organization with two pods, and callers of these scopes. */
async function family() {
  const organization = callerOf()
  const [firstPod, secondPod] = [inPod(organization, randomUUID()), inPod(organization, randomUUID())]
  const inbox = inInbox(organization, firstPod.pod_id ?? '')
  const sibling = inInbox(organization, firstPod.pod_id ?? '')
  return {
    callers: { organization, firstPod, secondPod, inbox, sibling, stranger: callerOf() },
    webhooks: {
      organization: await dispatcher.webhook(organization, BODY),
      firstPod: await dispatcher.webhook(firstPod, BODY),
      secondPod: await dispatcher.webhook(secondPod, BODY),
      inbox: await dispatcher.webhook(inbox, { ...BODY, client_id: 'of-the-inbox' }),
    },
  }
}

async function list(
  caller: Caller,
  query = '',
): Promise<{ webhooks: Webhook[]; next_page_token?: string; limit?: number; count: number }> {
  const { status, body } = await dispatcher.request('webhooks.list', caller, 'GET', `/webhooks${query}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { count: 0, webhooks: [], ...body }
}

/** Ids of all pages, following the tokens. */
async function walk(caller: Caller, query: string): Promise<string[][]> {
  const pages: string[][] = []
  let token: string | undefined
  do {
    const page = await list(caller, `${query}${token === undefined ? '' : `&page_token=${token}`}`)
    pages.push(page.webhooks.map(({ webhook_id }) => webhook_id))
    token = page.next_page_token
  } while (token !== undefined)
  return pages
}

describe('webhooks.list', () => {
  it('shows webhooks of the scope and below it, newest first, with secrets', async () => {
    const { callers, webhooks } = await family()
    const all = [webhooks.inbox, webhooks.secondPod, webhooks.firstPod, webhooks.organization]
    expect(await list(callers.organization)).toEqual({ count: 4, webhooks: all })
    expect((await list(callers.organization, '?ascending=true')).webhooks).toEqual(all.toReversed())
    expect((await list(callers.firstPod)).webhooks).toEqual([webhooks.inbox, webhooks.firstPod])
    expect((await list(callers.secondPod)).webhooks).toEqual([webhooks.secondPod])
    expect((await list(callers.inbox)).webhooks).toEqual([webhooks.inbox])
    expect((await list(callers.sibling)).webhooks).toEqual([])
    expect((await list(callers.stranger)).webhooks).toEqual([])
  })

  it.each(['', '&ascending=true'])(
    'walks every page once%s, also while webhooks are created and deleted',
    async (order) => {
      const caller = callerOf()
      const made: string[] = []
      for (let index = 0; index < 7; index++) made.push((await dispatcher.webhook(caller, BODY)).webhook_id)
      const expected = order === '' ? made.toReversed() : made
      expect(await walk(caller, `?limit=3${order}`)).toEqual([
        expected.slice(0, 3),
        expected.slice(3, 6),
        expected.slice(6),
      ])
      const first = await list(caller, `?limit=3${order}`)
      expect(first).toMatchObject({ count: 3, limit: 3 })
      await dispatcher.request('webhooks.delete', caller, 'DELETE', `/webhooks/${expected[2]}`)
      const late = await dispatcher.webhook(caller, BODY)
      const rest = await list(caller, `?limit=10${order}&page_token=${first.next_page_token}`)
      const shown = rest.webhooks.map(({ webhook_id }) => webhook_id)
      expect(shown).toEqual([...expected.slice(3), ...(order === '' ? [] : [late.webhook_id])])
    },
  )

  it('caps a limit above the maximum', async () => {
    expect(await list(callerOf(), '?limit=1000')).toMatchObject({ limit: 100 })
  })

  it.each(['limit=0', 'limit=-1', 'limit=x', 'ascending=1', 'page_token=', 'page_token=x'])(
    'answers 400 to %s',
    async (query) => {
      const { status, body } = await dispatcher.request('webhooks.list', callerOf(), 'GET', `/webhooks?${query}`)
      expect([status, body['code']]).toEqual([400, 'validation_error'])
      expect(body['errors']).toEqual([{ path: [query.split('=')[0]], message: expect.any(String) }])
    },
  )

  it('answers 400 to a page token of another scope, direction or spelling', async () => {
    const { callers } = await family()
    const token = (await list(callers.organization, '?limit=1')).next_page_token ?? ''
    expect((await list(callers.organization, `?limit=2&page_token=${token}`)).count).toBe(2)
    const wrong: [Caller, string][] = [
      [callers.firstPod, token],
      [callers.stranger, token],
      [callers.organization, `${token}&ascending=true`],
      [callers.organization, `${token}x`],
    ]
    for (const [caller, given] of wrong) {
      const { status, body } = await dispatcher.request('webhooks.list', caller, 'GET', `/webhooks?page_token=${given}`)
      expect([status, body['errors']]).toEqual([400, [{ path: ['page_token'], message: expect.any(String) }]])
    }
  })
})

describe('webhooks.get', () => {
  it('answers 200 by id and by client_id', async () => {
    const { callers, webhooks } = await family()
    for (const name of [webhooks.inbox.webhook_id, 'of-the-inbox']) {
      const { status, body } = await dispatcher.request('webhooks.get', callers.firstPod, 'GET', `/webhooks/${name}`)
      expect([status, body]).toEqual([200, webhooks.inbox])
    }
  })

  it('looks for an id first, then for a client_id', async () => {
    const caller = callerOf()
    const { webhook_id } = await dispatcher.webhook(caller, BODY)
    await dispatcher.webhook(caller, { ...BODY, client_id: webhook_id })
    const { body } = await dispatcher.request('webhooks.get', caller, 'GET', `/webhooks/${webhook_id}`)
    expect(body).toMatchObject({ webhook_id })
    expect(body).not.toHaveProperty('client_id')
  })

  it('answers 404 outside the scope, and to an unknown id', async () => {
    const { callers, webhooks } = await family()
    const outside: [Caller, string][] = [
      [callers.firstPod, webhooks.organization.webhook_id],
      [callers.firstPod, webhooks.secondPod.webhook_id],
      [callers.secondPod, 'of-the-inbox'],
      [callers.sibling, webhooks.inbox.webhook_id],
      [callers.inbox, webhooks.firstPod.webhook_id],
      [callers.stranger, webhooks.organization.webhook_id],
      [callers.organization, 'polling'],
      [callers.organization, "'; drop table webhooks --"],
    ]
    for (const [caller, name] of outside) {
      const { status, body } = await dispatcher.request(
        'webhooks.get',
        caller,
        'GET',
        `/webhooks/${encodeURIComponent(name)}`,
      )
      expect([status, body['code'], body['message']]).toEqual([404, 'not_found', 'Webhook not found'])
    }
  })
})

describe('webhooks.delete', () => {
  it('answers 204, then 404 on every verb', async () => {
    const { callers, webhooks } = await family()
    const target = `/webhooks/${webhooks.inbox.webhook_id}`
    const { status, body } = await dispatcher.request('webhooks.delete', callers.firstPod, 'DELETE', target)
    expect([status, body]).toEqual([204, {}])
    expect((await dispatcher.request('webhooks.delete', callers.firstPod, 'DELETE', target)).status).toBe(404)
    expect((await dispatcher.request('webhooks.get', callers.firstPod, 'GET', target)).status).toBe(404)
  })

  it('answers 404 outside the scope and deletes nothing', async () => {
    const { callers, webhooks } = await family()
    const outside: [Caller, Webhook][] = [
      [callers.firstPod, webhooks.organization],
      [callers.secondPod, webhooks.inbox],
      [callers.sibling, webhooks.inbox],
      [callers.stranger, webhooks.firstPod],
    ]
    for (const [caller, webhook] of outside) {
      const { status } = await dispatcher.request(
        'webhooks.delete',
        caller,
        'DELETE',
        `/webhooks/${webhook.webhook_id}`,
      )
      expect(status).toBe(404)
    }
    expect((await list(callers.organization)).count).toBe(4)
  })
})
