/** A bare WebSocket server. Whenever it is resumed, it sends its document to every client, and reports when it began. */
import { WebSocketServer } from 'ws'
import { z } from 'zod'
import { inputOf, reportToParent } from './parent.ts'

const { document } = inputOf(z.object({ document: z.string() }))
const bytes = Buffer.from(document)
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })

process.on('message', () => {
  const at = Date.now()
  for (const client of server.clients) client.send(bytes, { binary: false })
  reportToParent({ at })
})
server.once('listening', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  reportToParent({ url: `ws://127.0.0.1:${address.port}` })
})
