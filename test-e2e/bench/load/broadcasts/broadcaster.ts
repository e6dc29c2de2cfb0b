import { type ClientGroup, StreamClients } from '../stream-clients.ts'

/** A server that sends one document to all of its clients. */
export interface Broadcaster {
  /** How each of them connects and subscribes. */
  readonly clients: Omit<ClientGroup, 'clients'>
  /** Sends the document once. @returns when it was given to the server, in Unix milliseconds. */
  broadcast(): Promise<number>
  /** Ends the server. */
  stop(): Promise<unknown>
}

export interface Broadcasts {
  /** The event in the document. */
  readonly eventId: string
  readonly rounds: number
  readonly clients: number
  /** Processes that the clients are spread over. */
  readonly processes: number
}

/** How long broadcasts take, one after another, until the last client has its frame, in milliseconds. Ends the server. */
export async function broadcastTimes(server: Broadcaster, broadcasts: Broadcasts): Promise<number[]> {
  const { eventId, rounds, processes } = broadcasts
  try {
    const group = { ...server.clients, clients: broadcasts.clients / processes }
    const clients = await StreamClients.open(Array.from({ length: processes }, () => group))
    const times: number[] = []
    try {
      for (let round = 1; round <= rounds; round++) {
        const at = await server.broadcast()
        times.push((await clients.last([eventId], broadcasts.clients * round)) - at)
      }
    } finally {
      await clients.stop()
    }
    return times
  } finally {
    await server.stop()
  }
}
