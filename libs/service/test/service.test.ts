import { Service } from '../src/process/index.ts'
import { createLogger } from '../src/telemetry/index.ts'

const log = createLogger({ service: 'test', level: 'silent' })

describe('a service', () => {
  it('refuses a second component of the same name', () => {
    const service = new Service({ name: 'test', log })
    service.use({ name: 'consumer test.mail' })
    expect(() => service.use({ name: 'consumer test.mail' })).toThrow(
      "the service has two components named 'consumer test.mail'",
    )
  })

  it('stops consumers and timers together, before its own components', async () => {
    const service = new Service({ name: 'test', log })
    const events: string[] = []
    const bothStop = Promise.withResolvers<void>()
    const worker = (name: string) => ({
      name,
      stage: 'work' as const,
      async stop() {
        events.push(name)
        if (events.length === 2) bothStop.resolve()
        await bothStop.promise
      },
    })
    service.use(worker('consumer test.mail'))
    service.use({ name: 'store', stop: async () => void events.push('store') })
    service.use(worker('timers'))
    await service.start()
    await service.stop()
    expect(events).toEqual(['timers', 'consumer test.mail', 'store'])
  })
})
