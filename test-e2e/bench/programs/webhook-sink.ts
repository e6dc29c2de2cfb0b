/**
 * Receivers of webhooks that cost as little as they can: `/ok` answers 200, `/500` answers 500, `/slow` answers after ten
 * seconds. When resumed, it reports the events that `/ok` has got since the last report.
 */
import { createServer } from 'node:http'
import { z } from 'zod'
import { inputOf, reportToParent } from './parent.ts'

const SLOW_MS = 10_000
const EVENT_ID = /"event_id":"([0-9a-f-]{36})"/

inputOf(z.object({}))
let arrived: [eventId: string, at: number][] = []

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (request.url === '/500') return void response.writeHead(500).end()
    if (request.url === '/slow') return void setTimeout(() => response.end(), SLOW_MS)
    const [, eventId = ''] = EVENT_ID.exec(Buffer.concat(chunks).toString('latin1')) ?? []
    arrived.push([eventId, Date.now()])
    response.end()
  })
})
process.on('message', () => {
  reportToParent({ arrived })
  arrived = []
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  reportToParent({ url: `http://127.0.0.1:${address.port}` })
})
