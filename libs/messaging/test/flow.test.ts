import { Relay } from '../src/index.ts'
import { ADD_EFFECT, MessagingFixture, posted, until } from './fixture.ts'

describe('from a commit to a handler', () => {
  it('takes milliseconds', async () => {
    const fixture = await MessagingFixture.open()
    try {
      const arrivals = new Map<string, number>()
      const { kafka, db, outbox } = fixture
      await fixture.started(new Relay({ kafka, db, outbox, standbyMs: 50, pollMs: 5_000 }))
      await fixture.consumer({
        handlers: {
          'letter.posted': {
            effect: async (tx, event) => {
              arrivals.set(event.id, performance.now())
              await tx.query(ADD_EFFECT, event.key, event.payload.number, event.payload.text)
            },
          },
        },
      })
      const delays: number[] = []
      for (let i = 0; i < 50; i++) {
        const event = posted(`box-${i % 7}`, i)
        await fixture.post(event)
        const committedAt = performance.now()
        delays.push((await until(() => arrivals.get(event.id) ?? false)) - committedAt)
      }
      delays.sort((a, b) => a - b)
      // About 5 ms on an idle machine. The fastest tenth shows it on a busy one too, and waits for no poll or fetch.
      expect(delays[5]).toBeLessThan(200)
    } finally {
      await fixture.close()
    }
  })
})
