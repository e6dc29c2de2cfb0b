import { readFileSync } from 'node:fs'
import { queryRows, waitFor } from '@restante/testkit'
import { searchable } from '../../src/search/indexing/store.ts'
import { hashOf } from '../../src/search/text/terms.ts'
import { type Fixture, openFixture } from '../fixture.ts'
import { pathOf } from '../mailbox-fixture.ts'
import { idsOf, receiveIndexed, searchMessages, untilIndexed } from './search-fixture.ts'

const MIGRATION = new URL(
  '../../prisma/migrations/20261128190000_kana_shared_by_scripts/migration.sql',
  import.meta.url,
)

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())

describe('messages that wait to be indexed', () => {
  it('are taken from the newest on, and wait until their entry is written', async () => {
    const inbox = await fixture.inbox()
    await receiveIndexed(fixture, inbox, { subject: 'first' }, { subject: 'second' }, { subject: 'third' })
    const undone = new Error('undone')
    const taking = fixture.db.transaction(async (tx) => {
      await queryRows(tx, 'insert into unindexed_messages select id from messages')
      const messages = await searchable.take(tx, 2)
      expect(messages.map(({ subject }) => subject).toSorted()).toEqual(['second', 'third'])
      const written = messages.slice(0, 1)
      const entries = written.map((message) => ({ message, subject: '', people: '', terms: [], languages: [] }))
      await searchable.write(tx, entries)
      const waiting = await queryRows<{ id: string }>(tx, 'select id from unindexed_messages')
      expect(waiting).toHaveLength(2)
      expect(waiting).not.toContainEqual({ id: written[0]?.id })
      throw undone
    })
    await expect(taking).rejects.toBe(undone)
  })

  it('may get other labels meanwhile, of which the entry is made', async () => {
    const inbox = await fixture.inbox()
    const [id = ''] = await receiveIndexed(fixture, inbox, { subject: 'unwanted' })
    await fixture.db.transaction(async (tx) => {
      await queryRows(
        tx,
        'insert into unindexed_messages select id from messages where inbox_uid = $1',
        inbox.inbox_uid,
      )
      const messages = await searchable.take(tx, 1)
      const change = { add_labels: ['spam'] }
      const changed = await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), change)
      expect(changed.status).toBe(200)
      const entries = messages.map((message) => ({ message, subject: '', people: '', terms: [], languages: [] }))
      expect(await searchable.write(tx, entries)).toBe(1)
    })
    expect(await queryRows(fixture.db, 'select hidden from searchable where inbox_uid = $1', inbox.inbox_uid)).toEqual([
      { hidden: true },
    ])
  })

  it('are left for later while they are being changed', async () => {
    const inbox = await fixture.inbox()
    await receiveIndexed(fixture, inbox, { subject: 'changing' })
    await fixture.db.transaction(async (changing) => {
      await queryRows(changing, 'update messages set size = size where inbox_uid = $1', inbox.inbox_uid)
      await fixture.db.transaction(async (tx) => {
        await queryRows(
          tx,
          'insert into unindexed_messages select id from messages where inbox_uid = $1',
          inbox.inbox_uid,
        )
        const [message] = await searchable.take(tx, 1)
        if (!message) throw new Error('nothing was taken')
        expect(await searchable.write(tx, [{ message, subject: '', people: '', terms: [], languages: [] }])).toBe(0)
      })
    })
    await untilIndexed(fixture)
  })

  it('are those that were indexed before ー belonged to the scripts that share it', async () => {
    const inbox = await fixture.inbox()
    await receiveIndexed(fixture, inbox, { subject: 'サーバー' }, { subject: 'B', text: 'ｻｰﾊﾞｰ' }, { subject: 'サハラ' })
    const entries = () =>
      queryRows<{ id: string; subject: string; terms: number[] }>(
        fixture.db,
        'select id, subject, terms from searchable where inbox_uid = $1 order by id',
        inbox.inbox_uid,
      )
    const indexed = await entries()
    const before = { サーバー: '*^ー', b: '^ー', サハラ: '*^サ' }
    for (const [subject, beginning] of Object.entries(before)) {
      const terms = `{${hashOf(beginning)}}`
      await queryRows(fixture.db, 'update searchable set terms = $1::text::int[] where subject = $2', terms, subject)
    }
    await queryRows(fixture.db, readFileSync(MIGRATION, 'utf8'))
    await untilIndexed(fixture)
    const [first, second, third] = await entries()
    expect([first, second]).toEqual(indexed.slice(0, 2))
    expect(third?.terms).toEqual([hashOf('*^サ')])
  })

  it.each([
    ['no text', 'null'],
    ['a blank text', `E' \\r\\n\\u00a0\\u3000'`],
  ])('are those of the last release with html beside %s, whose words it did not store', async (_, text) => {
    const inbox = await fixture.inbox()
    const [id = ''] = await receiveIndexed(fixture, inbox, { text: '', html: '<p>Our <b>cormorant</b></p>' })
    await fixture.db.transaction(async (tx) => {
      const ofInbox = 'id in (select id from messages where inbox_uid = $1)'
      const change = `update message_bodies set text = ${text}, extracted_text = ${text}, search_text = null where ${ofInbox}`
      await queryRows(tx, change, inbox.inbox_uid)
      await queryRows(tx, `update searchable set terms = '{}' where ${ofInbox}`, inbox.inbox_uid)
    })
    const search = () => searchMessages(fixture, inbox, { q: 'cormorant' })
    await waitFor(async () => idsOf(await search()).length > 0, { what: 'the words of the html' })
    expect((await search()).body.messages).toMatchObject([
      { message_id: id, highlights: { text: ['Our **cormorant**'] } },
    ])
  })
})
