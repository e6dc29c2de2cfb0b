import { randomUUID } from 'node:crypto'
import type { DomainEvent, TopicDefinition } from '@restante/contracts/events'
import { z } from 'zod'
import { Consumer, readDeadLetters } from '../../src/index.ts'
import { letters, MessagingFixture, posted, until } from '../fixture.ts'

const parcels = {
  ...letters,
  name: 'parcels',
  partitions: 2,
  events: { 'parcel.posted': { schema: z.object({ number: z.int() }), summary: 'a parcel was posted' } },
} as const satisfies TopicDefinition

function parcel(box: string, number: number): DomainEvent<'parcel.posted', { number: number }> {
  return { ...posted(box, number), type: 'parcel.posted', payload: { number } }
}

let fixture: MessagingFixture
beforeEach(async () => {
  fixture = await MessagingFixture.open([letters, parcels])
  await fixture.relay()
})
afterEach(() => fixture.close())

/** A consumer of both topics that fails at a parcel with the number 13. */
function consumerOfBoth(handled: string[]): Consumer<TopicDefinition> {
  return new Consumer<TopicDefinition>({
    kafka: fixture.kafka,
    db: fixture.db,
    service: 'webhooks-dispatcher',
    topics: [letters, parcels],
    name: 'mail',
    attempts: 2,
    batch: {
      effectMany: async (_tx, events) => {
        if (events.some(({ type, value }) => type === 'parcel.posted' && value.includes('13')))
          throw new Error('unlucky')
        handled.push(...events.map(({ type, key, subject }) => `${type} ${key} ${subject}`))
      },
    },
  })
}

describe('a consumer of several topics', () => {
  it('handles every event of each topic once, in the order of its key', async () => {
    const handled: string[] = []
    const numbers = Array.from({ length: 10 }, (_, i) => i)
    await fixture.post(...numbers.map((number) => posted('one', number)))
    await fixture.db.transaction((tx) =>
      fixture.outbox.addAll(
        tx,
        parcels,
        numbers.map((number) => parcel('one', number)),
      ),
    )
    const consumer = consumerOfBoth(handled)
    expect(consumer.group).toBe('webhooks-dispatcher.mail')
    await fixture.started(consumer)
    await until(async () => handled.length >= 20)
    for (const type of ['letter.posted', 'parcel.posted']) {
      expect(handled.filter((line) => line.startsWith(type))).toEqual(
        numbers.map((number) => `${type} one one/${number}`),
      )
    }
  })

  it('goes on after a restart where it stopped in each topic', async () => {
    const handled: string[] = []
    const first = consumerOfBoth(handled)
    await fixture.started(first)
    await fixture.post(posted('one', 1))
    await fixture.db.transaction((tx) => fixture.outbox.add(tx, parcels, parcel('one', 1)))
    await until(async () => handled.length === 2)
    await first.stop()
    await fixture.post(posted('two', 2))
    await fixture.db.transaction((tx) => fixture.outbox.add(tx, parcels, parcel('two', 2)))
    await fixture.started(consumerOfBoth(handled))
    await until(async () => handled.length === 4)
    expect(handled.slice(2).toSorted()).toEqual(['letter.posted two two/2', 'parcel.posted two two/2'])
  })

  it('dead-letters an event with the topic that it came from', async () => {
    const handled: string[] = []
    const unlucky = { ...parcel('one', 13), id: randomUUID() }
    await fixture.db.transaction((tx) => fixture.outbox.add(tx, parcels, unlucky))
    await fixture.post(posted('one', 1))
    await fixture.started(consumerOfBoth(handled))
    await until(async () => (await fixture.count('webhooks-dispatcher.mail.dlq')) === 1)
    await until(async () => handled.length === 1)
    const [letter] = await readDeadLetters(fixture.kafka, 'webhooks-dispatcher.mail')
    expect(letter?.origin.topic).toBe('parcels')
    expect(letter?.headers['ce_id']).toBe(unlucky.id)
  })
})
