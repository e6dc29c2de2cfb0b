import { randomUUID } from 'node:crypto'
import { receivedSince } from '../../src/inbound/store.ts'
import { receiveMail } from '../mailbox-fixture.ts'
import { openStage, type Stage } from '../stage.ts'

describe('the organizations with mail that arrived since a given time', () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await openStage()
  }, 60_000)
  afterAll(() => stage.stop(), 30_000)

  it('are determined by the arrival of mail, not by its Date', async () => {
    const inbox = await stage.inbox()
    const ask = (since: Date) => receivedSince(stage.db, [randomUUID(), inbox.organization_id], since.toISOString())
    const before = new Date(Date.now() - 60_000)
    expect(await ask(before)).toEqual([])
    await receiveMail(stage, inbox, { date: new Date('1999-01-01T00:00:00Z') })
    expect(await ask(before)).toEqual([inbox.organization_id])
    expect(await ask(new Date(Date.now() + 60_000))).toEqual([])
  })
})
