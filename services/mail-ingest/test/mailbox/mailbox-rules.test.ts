import type { Message, ThreadItem } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import { bareAddress } from '@restante/mime'
import { processorMs } from '@restante/testkit'
import { DownloadLinks } from '../../src/files/links.ts'
import { changedLabels } from '../../src/mailbox/label-log.ts'
import { fitContent } from '../../src/mailbox/received-event.ts'
import type { ThreadTotals } from '../../src/mailbox/rows/rows.ts'
import { uuidV7 } from '../../src/mailbox/rows/uuid-v7.ts'
import { extendTotals, insertIntoTotals, listsOf, type ThreadMember } from '../../src/mailbox/thread-totals.ts'
import { isAmongPeople } from '../../src/threading/carriers.ts'
import { isDuplicate, mailDigest, type StoredMail } from '../../src/threading/duplicates.ts'

describe('labels', () => {
  it.each([
    [['a'], ['b'], [], ['a', 'b'], ['b'], []],
    [['a', 'b'], [], ['a'], ['b'], [], ['a']],
    [['a'], ['b'], ['b'], ['a'], [], []],
    [['a'], ['a'], ['c'], ['a'], [], []],
    [['a'], ['b', 'b'], ['a'], ['b'], ['b'], ['a']],
  ])('%j plus %j minus %j is %j', (labels, added, removed, result, reallyAdded, reallyRemoved) => {
    expect(changedLabels(labels, { added, removed })).toEqual({
      labels: result,
      change: { added: reallyAdded, removed: reallyRemoved },
    })
  })
})

describe('a thread', () => {
  const member = (minute: number, more: Partial<ThreadMember> = {}): ThreadMember => ({
    id: `id ${minute}`,
    message_id: `<${minute}@x>`,
    direction: 'received',
    labels: ['received'],
    timestamp: new Date(minute * 60_000),
    sender: 'Ann <a@x>',
    to: ['desk@y'],
    cc: [],
    bcc: [],
    subject: `subject ${minute}`,
    preview: `preview ${minute}`,
    attachments: [],
    size: 10,
    ...more,
  })

  const totalsOf = (members: readonly ThreadMember[]): ThreadTotals => {
    const [first = member(0), ...more] = members
    return more.reduce<ThreadTotals>(extendTotals, extendTotals(undefined, first))
  }

  it('has the totals of its messages', () => {
    const sent = { direction: 'sent' as const, sender: 'desk@y', to: ['a@x'], labels: ['sent'], preview: null }
    expect(totalsOf([member(1), member(2, { cc: ['c@z'] }), member(3, sent)])).toEqual({
      labels: ['received', 'sent'],
      timestamp: new Date(180_000),
      received_timestamp: new Date(120_000),
      sent_timestamp: new Date(180_000),
      senders: ['Ann <a@x>', 'desk@y'],
      recipients: ['desk@y', 'c@z', 'a@x'],
      subject: 'subject 1',
      preview: null,
      attachments: [],
      last_message_id: '<3@x>',
      message_count: 3,
      size: 30,
    })
  })

  it('is the same in any order of its messages', () => {
    const members = [1, 2, 3, 4].map((minute) => member(minute, { labels: [`l${minute % 2}`], sender: `s${minute}@x` }))
    const late = member(2, { sender: 's2@x', labels: ['l0'] })
    const without = totalsOf(members.filter(({ id }) => id !== late.id))
    expect(insertIntoTotals(without, late, members, 'subject 1')).toEqual(totalsOf(members))
    expect(totalsOf(members)).toMatchObject(listsOf(members))
  })

  it('keeps the newest senders and files, and counts all, after twenty thousand mails', () => {
    const { list, listBytes } = LIMITS.thread
    const file = { attachment_id: 'a', start: 0, end: 1, encoding: 'none' as const, size: 1, content_type: 'x/y' }
    const writers = Array.from({ length: 20_000 }, (_, index) =>
      member(index, { sender: `w${index}@x.test`, attachments: [{ ...file, filename: `${index}${'x'.repeat(400)}` }] }),
    )
    const { senders, attachments } = listsOf(writers)
    expect(senders).toEqual(writers.slice(-list).map(({ sender }) => sender))
    expect(JSON.stringify(attachments).length).toBeLessThan(listBytes + list)
    expect(attachments.at(-1)).toEqual(writers.at(-1)?.attachments[0])
    const [first, ...rest] = writers.slice(0, 1_100)
    const grown = [first ?? member(0), ...rest]
    expect(totalsOf(grown)).toMatchObject({ ...listsOf(grown), message_count: 1_100, size: 11_000 })
  })
})

describe('author and recipients of a message', () => {
  const isAmong = (address: string, ...recipients: string[]) =>
    isAmongPeople(address, { id: 'id', sender_address: 'ann@x.test', recipients: recipients.join('\n') })

  it('match whole addresses, not addresses inside other text', () => {
    expect(isAmong('ann@x.test')).toBe(true)
    expect(isAmong('bo@x.test', 'ada@x.test', 'Bo <Bo@X.test>', 'cy@x.test')).toBe(true)
    expect(isAmong('bo@x.test', 'bo@x.test')).toBe(true)
    expect(isAmong('bo@x.test', 'jumbo@x.test', 'bo@x.test.evil', '"Bo <bo@x.test>" <eve@evil.test>')).toBe(false)
  })

  it('are found among three thousand in each of twenty messages, which are not parsed for it', () => {
    const recipients = Array.from({ length: 3_000 }, (_, index) => `${'N'.repeat(50)} <u${index}@e.test>`)
    const parse = () => recipients.map((recipient) => bareAddress(recipient))
    const find = () => expect(isAmong('bo@x.test', ...recipients)).toBe(false)
    const twentyTimes = (work: () => unknown) => {
      for (let message = 0; message < 20; message++) work()
    }
    const parsing = processorMs(() => twentyTimes(parse))
    // A collection of garbage may fall into any try.
    const tries = [1, 2, 3].map(() => processorMs(() => twentyTimes(find)))
    expect(Math.min(...tries)).toBeLessThan(parsing / 2)
  })
})

describe('a repeated mail', () => {
  const stored = (arrival_labels: string[] | null, more: Partial<StoredMail> = {}): StoredMail => ({
    inbox_uid: 'inbox',
    digest: 'd',
    direction: 'received',
    arrival_labels,
    labels: arrival_labels ?? [],
    ...more,
  })
  const mail = (...labels: string[]) => ({ inbox_uid: 'inbox', digest: 'd', labels })

  it.each<[string, StoredMail, string[], boolean]>([
    ['the same mail again', stored([]), [], true],
    ['a forged copy of a genuine mail', stored([]), ['unauthenticated', 'spam'], true],
    ['the genuine mail of a forged copy', stored(['unauthenticated']), [], false],
    ['the genuine mail of a copy that was spam', stored(['received', 'spam']), ['received'], false],
    ['a spam copy of an unauthenticated one', stored(['unauthenticated']), ['spam'], false],
    ['the same spam again', stored(['spam']), ['spam'], true],
    ['a copy of what its reader called spam later', stored([], { labels: ['spam', 'trash'] }), [], true],
    ['a copy of what its reader freed of spam later', stored(['spam'], { labels: [] }), [], false],
    [
      'a copy of what was in the trash when labels at arrival were not recorded',
      stored(null, { labels: ['trash'] }),
      [],
      true,
    ],
    ['our own sent message, whatever its labels', stored(['spam'], { direction: 'sent' }), [], true],
    ['a mail of another inbox', stored([], { inbox_uid: 'other' }), [], false],
    ['another mail', stored([], { digest: 'e' }), [], false],
  ])('is recognised in %s as it should be', (_which, there, labels, duplicate) => {
    expect(isDuplicate(mail(...labels), [there])).toBe(duplicate)
  })

  it('is recognised by Message-ID, author and content; without an author by the text shown for one', () => {
    const given = { headerId: '<1>', sender: 'Ada <a@x>', senderAddress: 'a@x', content: 'c' }
    const anonymous = { ...given, sender: 'a@x, b@x', senderAddress: '' }
    expect(mailDigest({ ...given, sender: 'Ada L. <a@x>' })).toBe(mailDigest(given))
    expect(mailDigest(anonymous)).toBe(mailDigest(anonymous))
    const others = [
      { ...given, headerId: '<2>' },
      { ...given, senderAddress: 'b@x' },
      { ...given, content: 'd' },
      anonymous,
      { ...anonymous, sender: 'b@x, c@x' },
      { ...anonymous, sender: 'a@x' },
    ]
    expect(new Set([given, ...others].map(mailDigest)).size).toBe(7)
  })
})

describe('the payload of a received event', () => {
  const time = '2026-01-01T00:00:00.000Z'
  const content = (message: Partial<Message>, thread: Partial<ThreadItem> = {}) => ({
    message: {
      inbox_id: 'i@x',
      thread_id: 't',
      message_id: '<m@x>',
      labels: [],
      timestamp: time,
      from: 'a@x',
      from_: 'a@x',
      to: [],
      size: 1,
      created_at: time,
      updated_at: time,
      preview: 'p',
      ...message,
    },
    thread: {
      inbox_id: 'i@x',
      thread_id: 't',
      labels: [],
      timestamp: time,
      senders: [],
      recipients: [],
      last_message_id: '<m@x>',
      message_count: 1,
      size: 1,
      created_at: time,
      updated_at: time,
      ...thread,
    },
  })
  const many = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => `${index} ${'x'.repeat(length)}`)

  it('omits the bodies when they are larger than 64 KB together, in bytes', () => {
    const half = 'ä'.repeat(16 * 1024)
    const bodies = { text: half, extracted_text: half, html: half, extracted_html: half }
    expect(fitContent(content(bodies)).message).toMatchObject(bodies)
    const { message } = fitContent(content({ ...bodies, html: `${half}x` }))
    for (const name of Object.keys(bodies)) expect(message).not.toHaveProperty(name)
    expect(message.preview).toBe('p')
  })

  it('drops headers, then references, then cuts the lists of the thread, as far as needed', () => {
    const headers = { a: 'x'.repeat(500_000) }
    const references = many(500, 1_000)
    const small = fitContent(content({ headers, references: ['<r>'] }))
    expect(small.message).toMatchObject({ headers, references: ['<r>'] })
    const noHeaders = fitContent(content({ headers, references }))
    expect(noHeaders.message).not.toHaveProperty('headers')
    expect(noHeaders.message.references).toHaveLength(500)
    const recipients = many(1_500, 500)
    const cut = fitContent(content({ headers, references }, { recipients, senders: ['s'] }))
    expect(cut.message).not.toHaveProperty('references')
    expect(cut.thread.recipients).toHaveLength(1_500)
    const more = fitContent(content({ headers, references }, { recipients: many(2_500, 500), senders: ['s'] }))
    expect(more.thread.recipients).toEqual(many(2_500, 500).slice(-100))
    expect(more.thread.senders).toEqual(['s'])
  })

  it('stays below the cap whatever a mail brings', () => {
    const attachments = Array.from({ length: 500 }, () => ({
      attachment_id: 'a',
      size: 1,
      filename: '"'.repeat(500),
      content_type: 'ü'.repeat(500),
      content_id: '"'.repeat(500),
    }))
    const lists = { to: many(1_000, 490), cc: many(1_000, 490), subject: '"'.repeat(4_000), attachments }
    const thread = { attachments, senders: many(1_000, 500), recipients: many(1_000, 500) }
    const fitted = fitContent(content(lists, thread))
    expect(Buffer.byteLength(JSON.stringify(fitted))).toBeLessThan(900 * 1024)
    const names = Array.from({ length: 1_000 }, () => '漢'.repeat(500))
    const control = '\x01'.repeat(32 * 1024)
    const worst = { to: names, cc: names, bcc: names, reply_to: names, text: control, html: control, attachments }
    const most = content(
      { ...worst, extracted_text: control, extracted_html: control, references: names },
      { attachments, senders: names, recipients: names },
    )
    expect(Buffer.byteLength(JSON.stringify(fitContent(most)))).toBeLessThan(900 * 1024)
  })

  it('leaves the labels of callers out of its thread when they are too many', () => {
    const labels = [
      'received',
      ...Array.from({ length: 1_000 }, (_, number) => `${number}${'\x01'.repeat(200)}`),
      'spam',
    ]
    const fitted = fitContent(content({ labels: labels.slice(0, 256) }, { labels }))
    expect(Buffer.byteLength(JSON.stringify(fitted))).toBeLessThan(900 * 1024)
    expect(fitted.thread.labels).toEqual(['received', 'spam'])
    expect(fitted.message.labels).toHaveLength(256)
  })
})

describe('ids of the label log', () => {
  it('sort in order of creation', () => {
    const ids = Array.from({ length: 10_000 }, () => uuidV7())
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
    expect(uuidV7()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe('download links', () => {
  const links = new DownloadLinks({ publicUrl: 'https://api.test', secret: 'a secret of the test' })
  const made = Date.now()
  const token = links.raw('0a0a0a0a-0000-4000-8000-000000000000').download_url.split('/').at(-1) ?? ''

  it('are valid for an hour', () => {
    expect(links.open(token)).toMatchObject({ message: '0a0a0a0a-0000-4000-8000-000000000000' })
    expect(links.open(token, made + 3_590_000)).toBeDefined()
    expect(links.open(token, Date.now() + 3_601_000)).toBeUndefined()
  })

  it('of another installation are invalid', () => {
    expect(
      new DownloadLinks({ publicUrl: 'https://api.test', secret: 'another secret here' }).open(token),
    ).toBeUndefined()
  })
})
