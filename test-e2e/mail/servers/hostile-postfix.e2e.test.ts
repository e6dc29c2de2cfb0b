import { randomInt } from 'node:crypto'
import { type StreamClient, waitFor } from '@restante/testkit'
import { Postfix } from '../../support/programs/postfix.ts'
import { type PolicyAction, PostfixPolicy } from '../../support/programs/postfix-policy.ts'
import { describeAtFullLength } from '../../support/programs/programs.ts'
import { eventAbout, openStream, typesAbout } from '../../support/streams.ts'
import { useOwnSystem } from '../../support/suite.ts'
import { newUsername } from '../../support/tenants.ts'

type Suppressed = 'at once' | 'at the second' | 'never'
const NO_EMAIL = ['Permanent', 'NoEmail', 'at once'] as const
const GENERAL = ['Permanent', 'General', 'at the second'] as const
const FULL = ['Transient', 'MailboxFull', 'never'] as const
const TOO_LARGE = ['Transient', 'MessageTooLarge', 'never'] as const
const CONTENT = ['Transient', 'ContentRejected', 'never'] as const

/**
 * Permanent refusals, and what each of them is (events 1.3). Postfix replaces codes that do not fit what it refuses: 5.1.7,
 * 5.1.8 and 5.1.10 of a recipient, and 5.1.x of a mail that it has whole.
 */
const REFUSALS: readonly [code: string, type: string, subType: string, suppressed: Suppressed][] = [
  ['5.1.1', ...NO_EMAIL],
  ['5.1.2', ...NO_EMAIL],
  ['5.1.3', ...NO_EMAIL],
  ['5.1.6', ...NO_EMAIL],
  ['5.2.0', ...GENERAL],
  ['5.2.1', ...GENERAL],
  ['5.2.2', ...FULL],
  ['5.2.3', ...TOO_LARGE],
  ['5.3.0', ...CONTENT],
  ['5.3.2', ...CONTENT],
  ['5.3.4', ...TOO_LARGE],
  ['5.4.1', ...CONTENT],
  ['5.5.0', ...CONTENT],
  ['5.6.0', ...CONTENT],
  ['5.7.1', ...CONTENT],
  ['5.7.26', ...CONTENT],
]

/** Longest silence of a server before its session is given up. */
const SILENCE_MS = 5_000
/** Mails to a server that is silent, of which five are tried at a time. */
const SILENT = 20
/** Mails whose time to another server is measured, one after another. */
const MEASURED = 20
/** Differences of times below this are those of the machine. */
const NOISE_MS = 500

describeAtFullLength({ programs: ['postfix'], root: true }, 'a Postfix', () => {
  // Long enough for the waits between attempts at a destination that is busy.
  const system = useOwnSystem('postfix', async () => ({ RETRY_FOR: '30s', DELIVERY_ANSWER_TIMEOUT: `${SILENCE_MS}ms` }))
  const policy = new PostfixPolicy()
  /** The answers to come about each recipient, at RCPT and at the end of a mail; then it is accepted. */
  const atRecipient = new Map<string, PolicyAction[]>()
  const atEnd = new Map<string, PolicyAction[]>()
  let postfix: Postfix
  let stream: StreamClient
  let inboxId: string

  beforeAll(async () => {
    await policy.start()
    policy.decide = ({ state, recipient }) =>
      (state === 'RCPT' ? atRecipient : atEnd).get(recipient)?.shift() ?? 'DUNNO'
    const address = [randomInt(1, 255), randomInt(1, 255)] as const
    // It would answer slowly, and end sessions, after a few refusals, of which there are hundreds here.
    const patient = ['smtpd_error_sleep_time = 0', 'smtpd_soft_error_limit = 1000', 'smtpd_hard_error_limit = 1000']
    const more = [...policy.settings, ...patient, 'virtual_mailbox_maps = static:all/']
    postfix = await Postfix.start(system.endpoints, ...address, more)
    system.cleanUp(policy)
    system.cleanUp(postfix)
    inboxId = (await system.tenant.client.inboxes.create({})).inboxId
    stream = await openStream(system.endpoints, system.tenant.key, { inbox_ids: [inboxId] })
    system.cleanUp({ stop: () => stream.close() })
  })

  const messages = () => system.tenant.client.inboxes.messages
  const someone = () => `${newUsername()}@${postfix.domain}`
  const send = async (to: string) => (await messages().send(inboxId, { to, subject: 'Hello', text: to })).messageId
  const labelsOf = async (id: string) => (await messages().get(inboxId, id)).labels
  const isSuppressed = (to: string) =>
    system.tenant.client.lists.get('send', 'block', to).then(
      ({ readOnly }) => readOnly === true,
      () => false,
    )
  const delivered = (id: string) => eventAbout(stream, id, 'message.delivered')
  const bounced = (id: string) => eventAbout(stream, id, 'message.bounced', 60_000)
  const hasLabel = (id: string, label: string) =>
    waitFor(async () => (await labelsOf(id)).includes(label), { what: `the label ${label}` })

  /** Without those about the notice of a failure, which names the message as well. */
  const outboundTypes = (id: string) => typesAbout(stream, id).filter((type) => type !== 'message.received')

  it('that greylists gets the mail when it is tried again, once, and nothing is announced as delayed', async () => {
    const to = someone()
    atRecipient.set(to, ['450 4.2.0 Greylisted, try again later'])
    const id = await send(to)
    await delivered(id)
    expect(await postfix.mail('all', to)).toContain(`Message-ID: ${id}`)
    expect(outboundTypes(id)).toEqual(['message.sent', 'message.delivered'])
    expect(await isSuppressed(to)).toBe(false)
  })

  it('that fails temporarily half of the time gets each mail, and loses none', async () => {
    const all = Array.from({ length: 30 }, someone)
    for (const [at, to] of all.entries()) {
      const later: PolicyAction[] = Array(at % 4).fill('451 4.3.0 Temporary failure')
      if (at % 2 === 0) atRecipient.set(to, later)
      else atEnd.set(to, later)
    }
    const ids = await Promise.all(all.map(send))
    for (const [at, id] of ids.entries()) {
      await delivered(id)
      expect(await postfix.mail('all', all[at] ?? '')).toContain(`Message-ID: ${id}`)
      expect(outboundTypes(id)).toEqual(['message.sent', 'message.delivered'])
      expect(await labelsOf(id)).not.toContain('delayed')
    }
  })

  it('that ends the session after a mail gets it again', async () => {
    const to = someone()
    atEnd.set(to, ['421 4.3.2 Shutting down'])
    const id = await send(to)
    await delivered(id)
    expect(outboundTypes(id)).toEqual(['message.sent', 'message.delivered'])
  })

  it('that is silent after a mail gets it again, and keeps it once', async () => {
    const to = someone()
    atEnd.set(to, ['silence'])
    const id = await send(to)
    await delivered(id)
    expect(await postfix.count('all', `Message-ID: ${id}`)).toBe(1)
    expect(outboundTypes(id)).toEqual(['message.sent', 'message.delivered'])
    expect(await isSuppressed(to)).toBe(false)
  })

  it('that dies after a mail gets it again, and keeps it once', async () => {
    const to = someone()
    atEnd.set(to, ['silence'])
    const { unanswered } = policy
    const id = await send(to)
    await waitFor(() => policy.unanswered > unanswered, { what: 'the mail to be whole' })
    await postfix.killSessions()
    await delivered(id)
    expect(await postfix.log()).toContain('killed by signal 9')
    expect(await postfix.count('all', `Message-ID: ${id}`)).toBe(1)
    expect(outboundTypes(id)).toEqual(['message.sent', 'message.delivered'])
    expect(await isSuppressed(to)).toBe(false)
  })

  it('that is always silent after a mail has it bounce as Transient, and its recipient stays', async () => {
    const to = someone()
    atEnd.set(to, Array<PolicyAction>(1_000).fill('silence'))
    const id = await send(to)
    await hasLabel(id, 'delayed')
    expect(await bounced(id)).toMatchObject({ bounce: { type: 'Transient', sub_type: 'General' } })
    await hasLabel(id, 'bounced')
    expect(await labelsOf(id)).not.toContain('delayed')
    expect(await isSuppressed(to)).toBe(false)
  })

  it('that is silent after mails does not slow mail to another server, and gets them once it answers', async () => {
    const times = async () => {
      const all: number[] = []
      for (let at = 0; at < MEASURED; at++) {
        const to = system.peer.address(newUsername())
        const before = Date.now()
        await send(to)
        all.push((await system.peer.server.next(to)).receivedAt.getTime() - before)
      }
      return all.toSorted((one, other) => one - other)
    }
    const alone = await times()
    const { unanswered } = policy
    const silent = Array.from({ length: SILENT }, someone)
    for (const to of silent) atEnd.set(to, Array<PolicyAction>(1_000).fill('silence'))
    const ids = await Promise.all(silent.map(send))
    await waitFor(() => policy.unanswered > unanswered, { what: 'a mail in silence' })
    const beside = await times()
    const isOpen = (id: string) => typesAbout(stream, id).every((type) => type === 'message.sent')
    const open = ids.filter(isOpen)
    for (const to of silent) atEnd.delete(to)
    expect(open.length).toBeGreaterThan(0)
    expect(beside.at(-1)).toBeLessThan(2 * Math.max(alone.at(-1) ?? 0, NOISE_MS))
    // Of some the time to retry may have ended.
    await waitFor(() => !ids.some(isOpen), { what: 'the end of each mail', timeout: 60_000 })
    expect(ids.flatMap(outboundTypes)).toContain('message.delivered')
  })

  it.each([
    ['4.2.2', 'MailboxFull'],
    ['4.7.1', 'General'],
  ])(
    'that never stops to answer %s has the message bounce as Transient %s, and its recipient stays',
    async (code, subType) => {
      const to = someone()
      atRecipient.set(to, Array<PolicyAction>(1_000).fill(`450 ${code} Not now`))
      const id = await send(to)
      await hasLabel(id, 'delayed')
      expect(await bounced(id)).toMatchObject({ bounce: { type: 'Transient', sub_type: subType } })
      await hasLabel(id, 'bounced')
      expect(await labelsOf(id)).not.toContain('delayed')
      expect(await isSuppressed(to)).toBe(false)
    },
  )

  it.each(REFUSALS)('that refuses a recipient with %s has the message bounce as %s, %s', async (code, ...expected) => {
    const [type, sub_type, suppressed] = expected
    for (const answers of code.startsWith('5.1.') ? [atRecipient] : [atRecipient, atEnd]) {
      const to = someone()
      const refuse = async () => {
        answers.set(to, [`550 ${code} No thanks`])
        const id = await send(to)
        const recipients = [{ address: to, status: 'bounced' }]
        expect(await bounced(id)).toMatchObject({ bounce: { type, sub_type, recipients } })
        await hasLabel(id, 'bounced')
        expect(outboundTypes(id)).toEqual(['message.sent', 'message.bounced'])
      }
      await refuse()
      expect(await isSuppressed(to)).toBe(suppressed === 'at once')
      if (suppressed !== 'at once') await refuse()
      expect(await isSuppressed(to)).toBe(suppressed !== 'never')
      if (suppressed !== 'never') await expect(send(to)).rejects.toMatchObject({ statusCode: 403 })
    }
  })
})
