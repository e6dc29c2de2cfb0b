import { randomUUID } from 'node:crypto'
import { receivedSince } from '../../src/inbound/store.ts'
import { type Fixture, openFixture } from '../fixture.ts'
import { receiveMail } from '../mailbox-fixture.ts'

describe('the organizations with mail that arrived since a given time', () => {
  let fixture: Fixture

  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.stop())

  it('are determined by the arrival of mail, not by its Date', async () => {
    const inbox = await fixture.inbox()
    const ask = (since: Date) => receivedSince(fixture.db, [randomUUID(), inbox.organization_id], since.toISOString())
    const before = new Date(Date.now() - 60_000)
    expect(await ask(before)).toEqual([])
    await receiveMail(fixture, inbox, { date: new Date('1999-01-01T00:00:00Z') })
    expect(await ask(before)).toEqual([inbox.organization_id])
    expect(await ask(new Date(Date.now() + 60_000))).toEqual([])
  })
})
