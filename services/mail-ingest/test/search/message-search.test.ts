import { randomUUID } from 'node:crypto'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, sentCopy } from '../mailbox-fixture.ts'
import { idsOf, receiveIndexed, searchMessages, untilIndexed } from './search-fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

const search = (q: string, more: Record<string, string> = {}) => searchMessages(fixture, inbox, { q, ...more })
const receive = (...mails: Parameters<typeof receiveIndexed>[2][]) => receiveIndexed(fixture, inbox, ...mails)

describe('messages.search', () => {
  it('finds substrings of sender, recipients and subject, and words of the body, whatever their case', async () => {
    const [found] = await receive(
      {
        from: 'Ada Lovelace <ada@engines.test>',
        to: [inbox.address, 'Grace Hopper <grace@navy.test>'],
        subject: 'Quarterly INVOICE 2026/17',
        text: 'Please transfer the deposit.',
      },
      { subject: 'Something else', text: 'Nothing of interest.' },
    )
    for (const q of ['lovelace', 'NGINES.te', 'hopp', 'navy', 'voice', '2026/17', 'deposit', 'TRANSFER ada@eng'])
      expect([q, idsOf(await search(q))]).toEqual([q, [found]])
    for (const q of ['deposi', 'posit', 'deposit nobody', 'invoice interest'])
      expect([q, idsOf(await search(q))]).toEqual([q, []])
  })

  it.each([
    ['English', 'refund', 'We have sent the refunds that you have asked for, and this is the list of them.'],
    ['English, the other way', 'refunds', 'This is the refund that you have asked for, and it was sent to you.'],
    ['German', 'rechnung', 'Wir haben die Rechnungen, die Sie von uns haben wollten, an Sie geschickt.'],
    ['French', 'facture', 'Nous avons envoyé les factures que vous nous avez demandées avec le reste.'],
    ['Spanish', 'factura', 'Le hemos enviado las facturas que nos ha pedido para la empresa de los señores.'],
    ['Arabic', 'كتاب', 'لقد أرسلنا إليكم هذا الكتاب الذي طلبتم من قبل، وهو على الطريق مع كل ما في القائمة.'],
    ['Russian', 'договор', 'Мы отправили вам договоры, которые вы хотели получить от нас, и это не все.'],
  ])('finds other forms of a word in %s', async (_language, q, text) => {
    const [found] = await receive({ subject: 'A', text }, { subject: 'B', text: 'Hello' })
    expect(idsOf(await search(q))).toEqual([found])
  })

  it.each([
    ['Chinese', '发票', '请把上个月的发票寄给我们。', '这是一张照片。'],
    ['one Chinese character', '票', '请把上个月的发票寄给我们。', '这是照片。'],
    ['Japanese', '見積書', '先日の見積書をお送りください。', '見本と積荷と書類です。'],
    ['Japanese with long vowels', 'サーバー', '新しいサーバーの設定', 'サービスのバージョン'],
    ['Thai', 'ใบแจ้งหนี้', 'กรุณาส่งใบแจ้งหนี้ให้เราด้วย', 'สวัสดีครับ'],
    ['Korean', '회의', '내일 회의를 취소합니다.', '안녕하세요'],
    ['a script among others', '手机', '我的iPhone手机坏了', 'My iPhone'],
  ])('finds text without spaces: %s', async (_name, q, text, other) => {
    const [found] = await receive({ subject: 'A', text }, { subject: 'B', text: other })
    expect(idsOf(await search(q))).toEqual([found])
    expect((await search(q)).body.messages[0]).toMatchObject({
      highlights: { text: [expect.stringContaining(`**${q}**`)] },
    })
  })

  it('finds half-width Japanese by full-width words and the other way', async () => {
    const [half, full] = await receive(
      { subject: 'A', text: 'ｻｰﾊﾞｰの時々〆切' },
      { subject: 'サーバーの設定' },
      { subject: 'サービスのバージョン', text: 'ｻｰﾋﾞｽのﾊﾞｰｼﾞｮﾝ' },
    )
    for (const q of ['サーバー', 'ｻｰﾊﾞｰ', 'ーバ']) expect([q, idsOf(await search(q))]).toEqual([q, [full, half]])
    expect(idsOf(await search('々〆切'))).toEqual([half])
  })

  it('finds short words within sender, recipients and subject, and as beginnings in the body', async () => {
    const [inSubject, inBody] = await receive(
      { subject: 'About EU rules', text: 'Hello' },
      { subject: 'B', text: 'The euro fell.' },
      { subject: 'C', text: 'The museum is closed.' },
    )
    expect(idsOf(await search('eu'))).toEqual([inSubject, inBody])
    expect(idsOf(await search('€'))).toEqual([])
  })

  it('shows where it matched, at most three fragments of 160 characters for each field', async () => {
    const filler = 'word '.repeat(60)
    await receive({
      from: 'Offers <offers@shop.test>',
      subject: 'Two offers',
      text: `An offer. ${filler}Offers! ${filler}My offer ${filler}The last offer`,
    })
    const { body } = await search('offer')
    const { highlights } = Object(body.messages[0])
    expect(highlights).toEqual({
      from: ['**Offer**s <**offer**s@shop.test>'],
      subject: ['Two **offer**s'],
      text: [
        expect.stringMatching(/^An \*\*offer\*\*\. word/),
        expect.stringMatching(/word \*\*Offers\*\*! word/),
        expect.stringMatching(/My \*\*offer\*\* word/),
      ],
    })
    for (const fragment of highlights.text) expect(fragment.length).toBeLessThanOrEqual(160)
  })

  it('ranks the subject above people, these above the body, and then the newest first', async () => {
    const [body, older, newer, person, subject] = await receive(
      { subject: 'A', text: 'the harbour' },
      { subject: 'B', text: 'a harbour', date: new Date('Sun, 1 Mar 2026 10:00:00 +0000') },
      { subject: 'C', text: 'my harbour', date: new Date('Mon, 2 Mar 2026 10:00:00 +0000') },
      { from: 'Harbour <office@port.test>', subject: 'D', text: 'Hello' },
      { subject: 'The harbour', text: 'Hello', date: new Date('Sun, 1 Mar 2026 10:00:00 +0000') },
    )
    expect(idsOf(await search('harbour'))).toEqual([subject, person, body, newer, older])
  })

  it('leads from page to page, each bound to its search', async () => {
    const ids = await receive(...['1', '2', '3', '4', '5'].map((subject) => ({ subject, text: 'a lighthouse' })))
    const found: string[] = []
    let token: string | undefined
    for (let page = 0; page < 3; page++) {
      const answer = await search('lighthouse', { limit: '2', ...(token !== undefined && { page_token: token }) })
      expect(answer.body).toMatchObject({ limit: 2, count: page < 2 ? 2 : 1 })
      found.push(...idsOf(answer))
      token = answer.body.next_page_token
    }
    expect(token).toBeUndefined()
    expect(found).toEqual(ids.toReversed())
    const first = await search('lighthouse', { limit: '2' })
    const other = await search('house', { page_token: String(first.body.next_page_token) })
    expect(other).toMatchObject({ status: 400, body: { errors: [{ path: ['page_token'] }] } })
  })

  it('finds between bounds of time', async () => {
    const dated = (day: number) => ({
      subject: `day ${day}`,
      text: 'a beacon',
      date: new Date(`${day} Mar 2026 10:00:00 +0000`),
    })
    const ids = await receive(dated(1), dated(2), dated(3))
    const bounds = { after: '2026-03-01T10:00:00Z', before: '2026-03-03T10:00:00Z' }
    expect(idsOf(await search('beacon', bounds))).toEqual([ids[1]])
  })

  it('finds no message with a restricted label, and finds it again without one', async () => {
    const [id = ''] = await receive({ subject: 'A', text: 'a pelican' })
    const label = (body: object) => fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), body)
    expect(idsOf(await search('pelican'))).toEqual([id])
    await label({ add_labels: ['trash'] })
    expect(idsOf(await search('pelican'))).toEqual([])
    await label({ remove_labels: ['trash'] })
    expect(idsOf(await search('pelican'))).toEqual([id])
  })

  it('finds nothing of another inbox, and nothing that was deleted', async () => {
    const other = await fixture.inbox()
    await receiveIndexed(fixture, other, { subject: 'A', text: 'a heron' })
    const [id = ''] = await receive({ subject: 'B', text: 'a heron' })
    expect(idsOf(await search('heron'))).toEqual([id])
    await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(id))
    expect(idsOf(await search('heron'))).toEqual([])
  })

  it('finds html without text, names of attachments, and sent messages by what they added', async () => {
    const [html, file] = await receive(
      { subject: 'A', text: '', html: '<p>Our <b>cormorant</b></p>' },
      { subject: 'B', attachments: [{ filename: 'cormorant-report.pdf', content: Buffer.from('x') }] },
    )
    const copy = await sentCopy(fixture, inbox, { extracted_text: 'A cormorant.' })
    await fixture.peer('mail-ingest.placeSent', copy)
    await untilIndexed(fixture)
    expect(idsOf(await search('cormorant')).toSorted()).toEqual([html, file, copy.message_id].toSorted())
    expect(idsOf(await search('question'))).toEqual([])
  })

  it.each(['', '\r\n', ' \t\r\n\r\n', '\u00a0 \u3000'])('finds html beside a blank text: %j', async (text) => {
    const part = (type: string, body: string) => `--b\r\nContent-Type: text/${type}; charset=utf-8\r\n\r\n${body}\r\n`
    const subject = `Blank ${randomUUID()}`
    const raw =
      `From: ada@customer.test\r\nSubject: ${subject}\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n` +
      `${part('plain', text)}${part('html', '<p>Our <b>cormorant</b></p>')}--b--\r\n`
    const envelope = { from: 'ada@customer.test', to: inbox.address }
    const [id = ''] = await receive({ subject, envelope, raw })
    const { body } = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))
    expect(body['text']?.trim()).toBe('')
    const found = await search('cormorant')
    expect(found.body.messages).toMatchObject([{ message_id: id, highlights: { text: ['Our **cormorant**'] } }])
  })

  it.each([
    ['no q', {}, 'q'],
    ['an empty q', { q: ' ' }, 'q'],
    ['too long a q', { q: 'x'.repeat(513) }, 'q'],
    ['NUL in q', { q: 'a\0b' }, 'q'],
    ['too many words', { q: 'a '.repeat(25) }, 'q'],
    ['too large a limit', { q: 'x', limit: '101' }, 'limit'],
    ['a forged token', { q: 'x', page_token: 'abc' }, 'page_token'],
  ])('400: %s', async (_name, query, path) => {
    expect(await searchMessages(fixture, inbox, query)).toMatchObject({
      status: 400,
      body: { errors: [{ path: [path] }] },
    })
  })
})
