/**
 * Clients of streams in one process. They connect to one address, and each subscribes with one of the frames; without any,
 * it only connects. It reports when all have been answered, and, whenever it is resumed, how
 * many frames of each event have come and when the last one did.
 */
import { WebSocket } from 'ws'
import { z } from 'zod'
import { inputOf, reportToParent } from './parent.ts'

const CONNECTING = 50
/** Centrifugo's pings are messages, and are answered in kind. */
const PING = Buffer.from('{}')
const EVENT_ID = /"event_id":"([0-9a-f-]{36})"/

const frame = z.record(z.string(), z.unknown())
const { url, clients, frames, greeting, confirmation } = inputOf(
  z.object({
    url: z.url(),
    clients: z.int(),
    frames: z.array(frame),
    greeting: frame.optional(),
    confirmation: z.string().default('"subscribed"'),
  }),
)
const events = new Map<string, { frames: number; last: number }>()

function note(document: Buffer): void {
  const [, id = ''] = EVENT_ID.exec(document.toString('latin1')) ?? []
  const event = events.get(id) ?? { frames: 0, last: 0 }
  event.frames++
  event.last = Date.now()
  events.set(id, event)
}

function open(frame: object | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    socket.once('error', reject)
    const opened = () => {
      socket.on('message', (document: Buffer) =>
        document.equals(PING) ? socket.send(PING, { binary: false }) : note(document),
      )
      resolve()
    }
    // A greeting may be answered in a message of its own.
    let answers = greeting ? 2 : 1
    const confirm = (answer: Buffer) => {
      const confirmed = answer.includes(confirmation)
      if (!confirmed && --answers > 0) return
      socket.off('message', confirm)
      if (confirmed) opened()
      else reject(new Error(`the subscription was refused: ${answer.toString()}`))
    }
    socket.once('open', () => {
      if (frame === undefined) return opened()
      socket.on('message', confirm)
      const parts = greeting ? [greeting, frame] : [frame]
      socket.send(parts.map((part) => JSON.stringify(part)).join('\n'))
    })
  })
}

process.on('message', () => {
  reportToParent({ events: [...events].map(([id, event]) => ({ id, ...event })) })
  events.clear()
})
for (let from = 0; from < clients; from += CONNECTING) {
  const some = Array.from({ length: Math.min(CONNECTING, clients - from) }, (_, at) => from + at)
  await Promise.all(some.map((at) => open(frames[at % Math.max(1, frames.length)])))
}
reportToParent({ opened: true })
