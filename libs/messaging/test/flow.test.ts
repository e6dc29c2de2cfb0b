import { Consumer } from '../src/index.ts'
import { ADD_EFFECT, letters, posted, Stage, until } from './stage.ts'

describe('from a commit to a handler', () => {
  it('takes about ten milliseconds', async () => {
    const stage = await Stage.open()
    try {
      const arrivals = new Map<string, number>()
      await stage.relay()
      await stage.started(
        new Consumer({
          kafka: stage.connection('reader'),
          db: stage.db,
          service: 'webhooks-dispatcher',
          topic: letters,
          handlers: {
            'letter.posted': {
              effect: async (tx, event) => {
                arrivals.set(event.id, performance.now())
                await tx.query(ADD_EFFECT, event.key, event.payload.number, event.payload.text)
              },
            },
          },
        }),
      )
      const delays: number[] = []
      for (let i = 0; i < 60; i++) {
        const event = posted(`box-${i % 7}`, i)
        await stage.post(event)
        const committedAt = performance.now()
        await until(() => arrivals.has(event.id))
        delays.push((arrivals.get(event.id) ?? 0) - committedAt)
      }
      delays.sort((a, b) => a - b)
      console.log(delays.map((d) => d.toFixed(1)).join(' '))
      expect(delays[30]).toBeLessThan(100)
    } finally {
      await stage.close()
    }
  })
})
