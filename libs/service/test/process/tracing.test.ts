import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'

const PRELOAD = path.resolve(import.meta.dirname, '../../src/telemetry/preload.ts')
const SCRIPT = path.resolve(import.meta.dirname, '../fixtures/traced-request.ts')

describe('traces', () => {
  it('show no query, no download link, and only the host of an outgoing request', async () => {
    let traces = ''
    const collector = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => {
        traces += chunk.toString('latin1')
      })
      request.on('end', () => response.end())
    })
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
    const address: AddressInfo | string | null = collector.address()
    if (address === null || typeof address === 'string') throw new Error('The collector is not listening')
    const env = {
      PATH: process.env['PATH'],
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${address.port}`,
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      SECRET: 'am_us_secret',
    }
    await promisify(execFile)(process.execPath, ['--import', PRELOAD, SCRIPT], { env })
    collector.close()
    for (const shown of ['/v0/inboxes', '/v0/files', '/v0/%66iles', '127.0.0.1', 'GET']) expect(traces).toContain(shown)
    expect(traces).not.toContain('am_us_secret')
  })
})
