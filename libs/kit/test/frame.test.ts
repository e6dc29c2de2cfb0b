import { createLogger } from '@restante/service/telemetry'
import { freePort } from '@restante/service/testing'
import { callerVariables, defineStatelessService, type Frame, frameConfigurationOf } from '../src/index.ts'

const SECRET = 'a secret of at least 16 characters'
const GIVEN = {
  HOST: '127.0.0.1',
  PUBLIC_URL: 'https://api.restante.test/',
  GATEWAY_URL: 'http://gateway:3000',
  PEER_KEY_GATEWAY: SECRET,
  CALLER_KEY: SECRET,
}
const log = createLogger({ service: 'test', level: 'silent' })

type TestFrame = Frame<'mcp', 'gateway'>

describe('the configuration of a service that stores nothing', () => {
  const configuration = frameConfigurationOf('mcp', { peers: ['gateway'] }).with(callerVariables)

  it('asks for no database and no Kafka', () => {
    const config = configuration.read(GIVEN)
    expect(config).toMatchObject({
      service: 'mcp',
      http: { host: '127.0.0.1' },
      publicUrl: 'https://api.restante.test',
      docsUrl: 'https://api.restante.test/docs',
      callerKey: SECRET,
    })
    expect(config.peers.of('gateway')).toEqual({ url: 'http://gateway:3000', key: SECRET })
    for (const name of ['database', 'kafka']) expect(config).not.toHaveProperty(name)
    const names = Object.keys(configuration.variables.shape)
    expect(names.filter((name) => /^(DATABASE|KAFKA|TOPIC)/.test(name))).toEqual([])
  })

  it('names what is missing or wrong of the frame and of the blocks after it', () => {
    const read = () => configuration.read({ PORT: 'no port' })
    for (const name of ['PORT', 'PUBLIC_URL', 'GATEWAY_URL', 'PEER_KEY_GATEWAY', 'CALLER_KEY']) {
      expect(read).toThrow(new RegExp(`- ${name} `))
    }
    expect(read).not.toThrow(/DATABASE_URL|KAFKA_BROKERS/)
  })
})

describe('a service that is composed from the frame', () => {
  async function compose(assemble: (frame: TestFrame, callerKey: string) => void) {
    const configuration = frameConfigurationOf('mcp', { peers: ['gateway'] }).with(callerVariables)
    const { configure, create, name } = defineStatelessService({
      configuration,
      assemble: (frame, config) => assemble(frame, config.callerKey),
    })
    expect(name).toBe('mcp')
    const port = await freePort()
    return { url: `http://127.0.0.1:${port}`, service: await create(configure({ ...GIVEN, PORT: String(port) }), log) }
  }

  it('is ready without a database and topics, and serves what it is composed of', async () => {
    const { url, service } = await compose((frame) => {
      frame.listen({ handle: async ({ response, path }) => void response.end(`here is ${path}`) })
    })
    expect([await service.problems(), await service.degradations()]).toEqual([{}, {}])
    await service.start()
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(await (await fetch(`${url}/some/where`)).text()).toBe('here is /some/where')
    await service.stop()
    await expect(fetch(`${url}/readyz`)).rejects.toThrow()
  })

  it('has clients of its declared peers only, and takes no components after its composition', async () => {
    let kept: TestFrame | undefined
    const { service } = await compose((frame, callerKey) => {
      kept = frame
      expect([frame.name, callerKey]).toEqual(['mcp', SECRET])
      expect(frame.peer('gateway')).toBe(frame.peer('gateway'))
      // @ts-expect-error it is no peer of this service.
      expect(() => frame.peer('mail-send')).toThrow('does not declare the peer mail-send')
    })
    expect(() => kept?.use({ name: 'late' })).toThrow('late cannot be added')
    await service.stop()
  })

  it('starts and stops its components in order', async () => {
    const steps: string[] = []
    const component = (name: string, stage?: 'base' | 'front') => ({
      name,
      ...(stage && { stage }),
      start: async () => void steps.push(`+${name}`),
      stop: async () => void steps.push(`-${name}`),
    })
    const { service } = await compose((frame) => {
      frame.use(component('server', 'front'))
      frame.use(component('work'))
      frame.use(component('client', 'base'))
    })
    await service.start()
    await service.stop()
    expect(steps).toEqual(['+client', '+work', '+server', '-server', '-work', '-client'])
  })
})
