import { EventEmitter } from 'node:events'
import { createLogger } from '@restante/service/telemetry'
import { callerOf, waitFor } from '@restante/testkit'
import type { WebSocket } from 'ws'
import { Answers } from '../src/connections/answers.ts'
import { Connection } from '../src/connections/connection.ts'
import { StreamCursors } from '../src/cursors/stream-cursors.ts'
import { LogReader } from '../src/replay/reader.ts'

/** The part of a socket that a connection uses. */
class Socket extends EventEmitter {
  readonly bufferedAmount = 0
  readonly sent: Record<string, unknown>[] = []
  send(text: string, done: () => void): void {
    this.sent.push(JSON.parse(text))
    done()
  }
}

describe('a frame that names many inboxes and pods', () => {
  it.each(['subscribe', 'unsubscribe'])('leads to one request to the gateway: %s', async (type) => {
    const socket = new Socket()
    const asked: object[] = []
    const { answer } = new Answers({
      docsUrl: 'http://docs.test',
      onSubscribed: () => {},
      cursors: new StreamCursors('a secret of enough characters, for cursors'),
      reader: new LogReader({ query: () => Promise.reject(new Error('nothing is read')) }),
      position: () => 0n,
      resolve: async (_caller, ids) => {
        asked.push(ids)
        return { scopes: [], missing: 'Inbox' }
      },
    })
    new Connection({
      socket: socket as unknown as WebSocket,
      caller: callerOf(),
      requestId: 'a-request',
      log: createLogger({ service: 'test', level: 'silent' }),
      answer,
    })
    const inbox_ids = Array.from({ length: 10 }, (_, index) => `i${index}@x.example`)
    const pod_ids = Array.from({ length: 10 }, (_, index) => `p${index}`)
    socket.emit('message', Buffer.from(JSON.stringify({ type, inbox_ids, pod_ids })), false)
    await waitFor(() => socket.sent.length === 1, { what: 'the answer' })
    expect(asked).toEqual([{ inboxIds: inbox_ids, podIds: pod_ids }])
  })
})
