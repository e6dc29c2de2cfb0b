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
})
