import { queryRows } from '@restante/testkit'
import { searchable } from '../../src/search/indexing/store.ts'
import { type Fixture, openFixture } from '../fixture.ts'
import { receiveIndexed } from './search-fixture.ts'

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
})
