import { randomUUID } from 'node:crypto'
import type { ReplySource } from '@restante/mime'
import { callerOf } from '@restante/testkit'
import type { FoundEntry } from '../../src/lists/store.ts'
import { fingerprint } from '../../src/sending/acceptance/idempotency.ts'
import { answerRecipients, readAddresses, uniqueAddresses } from '../../src/sending/checks/recipients.ts'
import { recipientsBlocked, refusedRecipients, sendLimitExceeded } from '../../src/sending/checks/refusals.ts'
import { chargesOf } from '../../src/sending/checks/send-limit.ts'

const OWN = 'desk@restante.test'
const SOURCE: ReplySource = {
  messageId: '<1@x.example>',
  from: 'Ann <ann@x.example>',
  author: 'Ann <ann@x.example>',
  replyTo: [],
  to: [OWN, 'Bo <bo@x.example>'],
  cc: ['Cy <cy@x.example>', 'DESK@restante.test'],
  references: [],
  subject: 'Lunch',
  timestamp: new Date('2026-03-03T09:10:00Z'),
  sentByInbox: false,
}

const bare = (list: readonly { address: string }[]) => list.map(({ address }) => address)

describe('answerRecipients', () => {
  const none = readAddresses({})

  it('answers the sender, or the Reply-To', () => {
    const reply = { kind: 'reply', body: {} } as const
    expect(bare(answerRecipients(reply, none, SOURCE, OWN).to)).toEqual(['ann@x.example'])
    const named = { ...SOURCE, replyTo: ['list@x.example'] }
    expect(bare(answerRecipients(reply, none, named, OWN).to)).toEqual(['list@x.example'])
  })

  it('derives `to` even when only cc or bcc are given, and uses given ones unchanged', () => {
    const cc = readAddresses({ cc: ['zed@x.example'] })
    const derived = answerRecipients({ kind: 'reply', body: {} }, cc, SOURCE, OWN)
    expect([bare(derived.to), bare(derived.cc)]).toEqual([['ann@x.example'], ['zed@x.example']])
    const to = readAddresses({ to: ['zed@x.example'] })
    const given = answerRecipients({ kind: 'reply', body: {} }, to, SOURCE, OWN)
    expect([bare(given.to), bare(given.cc)]).toEqual([['zed@x.example'], []])
  })

  it('excludes the inbox itself on reply-all, in either spelling', () => {
    const spellings: Parameters<typeof answerRecipients>[0][] = [
      { kind: 'reply_all', body: {} },
      { kind: 'reply', body: { reply_all: true } },
    ]
    for (const answer of spellings) {
      const { to, cc, bcc } = answerRecipients(answer, none, SOURCE, OWN)
      expect(bare(to)).toEqual(['bo@x.example', 'ann@x.example'])
      expect([bare(cc), bcc]).toEqual([['cy@x.example'], []])
    }
  })

  it.each([
    ['Ann "The Desk" Ray <ann@x.example>'],
    ['ann@x.example (Ann Ray)'],
    ['Ray, Ann <ann@x.example>'],
    [`${'Ann '.repeat(400)}<ann@x.example>`],
    ['Ann\u0085Ray <ann@x.example>'],
  ])('answers a sender whose name cannot be parsed: %j', (from) => {
    const { to } = answerRecipients({ kind: 'reply', body: {} }, none, { ...SOURCE, author: from }, OWN)
    expect(bare(to)).toEqual(['ann@x.example'])
    const all = answerRecipients({ kind: 'reply_all', body: {} }, none, { ...SOURCE, author: from }, OWN)
    expect(bare(all.to)).toEqual(['bo@x.example', 'ann@x.example'])
  })

  it('skips addresses that cannot be mailed', () => {
    const source = { ...SOURCE, author: 'ann@localhost' }
    expect(answerRecipients({ kind: 'reply', body: {} }, none, source, OWN).to).toEqual([])
  })
})

describe('readAddresses', () => {
  it('names every wrong address by field and index', () => {
    expect(() => readAddresses({ to: ['a@x.example', 'nobody'], cc: ['also wrong'] })).toThrow(
      expect.objectContaining({
        options: expect.objectContaining({
          errors: [expect.objectContaining({ path: ['to', 1] }), expect.objectContaining({ path: ['cc', 0] })],
        }),
      }),
    )
  })

  it('counts one mailbox once, whatever its case', () => {
    const given = readAddresses({ to: ['Ann <ann@X.example>'], bcc: ['ANN@x.example', 'bo@x.example'] })
    expect([...uniqueAddresses(given).keys()]).toEqual(['ann@x.example', 'bo@x.example'])
  })
})

describe('refusedRecipients', () => {
  const recipients = ['ann@x.example', 'bo@x.example']
  const { credential } = callerOf()
  const inbox = { uid: 'u', address: 'desk+1@restante.test', pod_id: 'p', paused: false }
  const sender = { credential, inbox }
  const entry = (given: Partial<FoundEntry>): FoundEntry => ({
    tier: 'organization',
    type: 'block',
    entry: 'bo@x.example',
    reason: null,
    read_only: false,
    ...given,
  })
  const bounced = entry({ reason: 'bounced', read_only: true })
  const refusedBy = (...found: FoundEntry[]) =>
    refusedRecipients(recipients, 'ok', found).map(({ address, reason }) => `${address} (${reason})`)

  it.each([
    ['ok', []],
    ['none', ['ann@x.example', 'bo@x.example']],
    ['only:Ann@x.example', ['bo@x.example']],
  ] as const)('with the right %j refuses %j', (sending, addresses) => {
    const refused = refusedRecipients(recipients, sending, [])
    expect(refused).toMatchObject(addresses.map((address) => ({ address, reason: 'not in allow list' })))
  })

  it('refuses suppressed addresses, and names each with its reason', () => {
    const refused = refusedRecipients(recipients, 'ok', [bounced])
    expect(recipientsBlocked(refused, sender).message).toBe(
      'Message rejected: Recipient(s) blocked: bo@x.example (bounced)',
    )
    const both = refusedRecipients(recipients, 'only:bo@x.example', [bounced])
    expect(recipientsBlocked(both, sender).message).toBe(
      'Message rejected: Recipient(s) blocked: ann@x.example (not in allow list), bo@x.example (bounced)',
    )
  })

  it('refuses a suppressed address whatever allow list names it', () => {
    expect(refusedBy(bounced, entry({ type: 'allow' }), entry({ type: 'allow', tier: 'inbox' }))).toContain(
      'bo@x.example (bounced)',
    )
  })

  it('lets the narrowest scope decide, there an address before a domain', () => {
    const ofDomain = { entry: 'x.example' }
    expect(refusedBy(entry({}))).toEqual(['bo@x.example (in block list)'])
    expect(refusedBy(entry({}), entry({ tier: 'pod', type: 'allow', ...ofDomain }))).toEqual([])
    expect(refusedBy(entry({ tier: 'inbox', ...ofDomain }), entry({ tier: 'inbox', type: 'allow' }))).toEqual([
      'ann@x.example (in block list)',
    ])
    expect(refusedBy(entry({ type: 'allow', entry: null }))).toEqual([
      'ann@x.example (not in allow list)',
      'bo@x.example (not in allow list)',
    ])
  })

  it('says for each entry of a caller how it is deleted', () => {
    const fixOf = (tier: FoundEntry['tier']) =>
      recipientsBlocked(refusedRecipients(recipients, 'ok', [entry({ tier })]), sender).options.fix
    expect(fixOf('organization')).toBe('Delete the entry: DELETE /v0/lists/send/block/bo%40x.example.')
    expect(fixOf('pod')).toBe('Delete the entry: DELETE /v0/pods/p/lists/send/block/bo%40x.example.')
    expect(fixOf('inbox')).toBe(
      'Delete the entry: DELETE /v0/inboxes/desk%2B1%40restante.test/lists/send/block/bo%40x.example.',
    )
    const narrow = { inbox, credential: { ...credential, tier: 'inbox' as const } }
    const refused = refusedRecipients(recipients, 'ok', [entry({}), entry({ tier: 'pod', entry: 'ann@x.example' })])
    expect(recipientsBlocked(refused, narrow).options.fix).toBe(
      'Delete the entries: DELETE /v0/pods/p/lists/send/block/ann%40x.example with a key of the pod, ' +
        'DELETE /v0/lists/send/block/bo%40x.example with a key of the organization.',
    )
    const missing = refusedRecipients(recipients, 'ok', [entry({ type: 'allow', entry: null })])
    expect(recipientsBlocked(missing, sender).options.fix).toContain('POST /v0/lists/send/allow')
    expect(recipientsBlocked(refusedRecipients(recipients, 'ok', [bounced]), sender).options.fix).toContain(
      'cannot be deleted',
    )
  })
})

describe('sendLimitExceeded', () => {
  const limit = { tier: 'pod', scopeId: randomUUID(), recipients: 100 } as const
  it.each([
    [24, '2026-03-02T23:59:00.500Z', 60, 'day'],
    [24, '2026-03-02T00:00:00Z', 86_400, 'day'],
    [1, '2026-03-02T10:59:59.999Z', 1, 'hour'],
    [6, '2026-03-02T05:00:00Z', 3_600, '6 hours'],
  ])('says when a window of %i hours ends', (hours, now, seconds, window) => {
    const { retryAfter, details, message } = sendLimitExceeded(
      { ...limit, window_seconds: hours * 3_600 },
      new Date(now),
    ).options
    expect([retryAfter, details, message]).toEqual([
      seconds,
      { resource: 'recipients', limit: 100, window },
      `Send limit exceeded: 100 recipients per ${window} for one pod`,
    ])
  })
})

describe('chargesOf', () => {
  const scopes = { organization: randomUUID(), pod: randomUUID(), inbox: randomUUID() }
  const day = 24 * 3_600
  it('has each window of a scope once, with its lowest limit', () => {
    const limits = {
      organization: [
        { recipients: 5, window_seconds: day },
        { recipients: 50, window_seconds: 30 * day },
      ],
      pod: [],
      inbox: [
        { recipients: 100, window_seconds: day },
        { recipients: 20, window_seconds: day },
      ],
    }
    expect(chargesOf(limits, scopes, true).map(({ tier, recipients }) => [tier, recipients])).toEqual([
      ['organization', 5],
      ['organization', 50],
      ['inbox', 20],
    ])
    expect(chargesOf({ organization: [], pod: [], inbox: [] }, scopes, true)).toMatchObject([{ recipients: 10 }])
    expect(chargesOf({ organization: [], pod: [], inbox: [] }, scopes, false)).toEqual([])
  })
})

describe('fingerprint', () => {
  const uid = '0f0c1f0e-2f43-4b66-9b6b-0242ac120002'

  it('does not depend on the order of members, nor on absent ones', () => {
    const one = fingerprint('send', uid, undefined, { to: ['a'], text: 'x', headers: { a: '1', b: '2' } })
    const two = fingerprint('send', uid, undefined, {
      headers: { b: '2', a: '1' },
      text: 'x',
      to: ['a'],
      html: undefined,
    })
    expect(one).toBe(two)
  })

  it('differs by operation, inbox, source and content', () => {
    const all = [
      fingerprint('send', uid, undefined, {}),
      fingerprint('reply', uid, undefined, {}),
      fingerprint('reply', uid, '<1@x>', {}),
      fingerprint('send', uid.replace('0', '1'), undefined, {}),
      fingerprint('send', uid, undefined, { to: ['a', 'b'] }),
      fingerprint('send', uid, undefined, { to: ['b', 'a'] }),
    ]
    expect(new Set(all).size).toBe(all.length)
  })
})
