import { MetricsListener } from '../../src/http/index.ts'
import { createLogger } from '../../src/telemetry/index.ts'
import { freePort } from '../../src/testing.ts'

const log = createLogger({ service: 'test', level: 'silent' })

describe('the metrics of a process', () => {
  const problems: Record<string, string> = {}
  const degradations: Record<string, string> = {}
  let asked = 0
  let listener: MetricsListener
  let url: string

  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}/metrics`
    const health = {
      problems: async () => {
        asked++
        return problems
      },
      degradations: async () => degradations,
    }
    const options = { log, docsUrl: 'https://docs.example', health }
    listener = new MetricsListener({ port, host: '127.0.0.1' }, { version: '1.2.3' }, options)
    await listener.start()
  })
  afterAll(() => listener.stop())

  const lines = async () => (await (await fetch(url)).text()).split('\n')

  it('name its version, and include those of Node: memory, event loop, file descriptors', async () => {
    const names = new Set((await lines()).map((line) => line.split(/[ {]/)[0]))
    expect(await lines()).toContain('restante_build_info{version="1.2.3"} 1')
    for (const name of [
      'process_resident_memory_bytes',
      'process_open_fds',
      'nodejs_eventloop_lag_p99_seconds',
      'restante_event_loop_busy_seconds_total',
      'restante_memory_limit_bytes',
    ])
      expect(names).toContain(name)
  })

  it('say what /readyz says: ready or not, and which components are the reason', async () => {
    expect(await lines()).toEqual(
      expect.arrayContaining([
        'restante_ready 1',
        'restante_unready{component="none"} 0',
        'restante_degraded{component="none"} 0',
      ]),
    )
    Object.assign(problems, { database: 'secret host is down' })
    Object.assign(degradations, { 'outbox relay': 'secret host is down' })
    const shown = await lines()
    expect(shown).toEqual(
      expect.arrayContaining([
        'restante_ready 0',
        'restante_unready{component="database"} 1',
        'restante_degraded{component="outbox relay"} 1',
      ]),
    )
    expect(shown.filter((line) => /component="none"|secret/.test(line))).toEqual([])
  })

  it('ask for the readiness once per scrape', async () => {
    asked = 0
    await lines()
    await lines()
    expect(asked).toBe(2)
  })

  it('count the open connections of its ports', async () => {
    expect((await lines()).find((line) => line.startsWith('restante_http_connections '))).toMatch(/ [1-9]\d*$/)
  })
})
