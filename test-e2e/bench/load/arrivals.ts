import { createServer } from 'node:http'
import { type Frame, waitFor } from '@restante/testkit'
import { z } from 'zod'
import type { Endpoints } from '../../stack/endpoints.ts'
import { openStream } from '../../support/streams.ts'
import type { Tenant } from '../../support/tenants.ts'

/** Times by Message-ID, in milliseconds of this process. */
export type Times = ReadonlyMap<string, number>

const received = z.object({
  event_type: z.literal('message.received'),
  message: z.object({ message_id: z.string() }),
})

/** A stream and a webhook of one organization that receive every mail arriving in its inboxes. */
export class Arrivals {
  readonly #stream = new Map<string, number>()
  readonly #webhook = new Map<string, number>()
  readonly #close: (() => Promise<unknown>)[] = []

  static async open(endpoints: Endpoints, tenant: Tenant): Promise<Arrivals> {
    const arrivals = new Arrivals()
    const url = await arrivals.#receive()
    await tenant.client.webhooks.create({ url, eventTypes: ['message.received'] })
    const stream = await openStream(endpoints, tenant.key, { event_types: ['message.received'] })
    stream.listen((frame) => note(arrivals.#stream, frame))
    arrivals.#close.push(() => stream.close())
    return arrivals
  }

  get stream(): Times {
    return this.#stream
  }

  get webhook(): Times {
    return this.#webhook
  }

  /** Resolves when both have received so many mails. @throws Error when neither receives one for a minute. */
  async count(mails: number): Promise<void> {
    let [before, since] = [0, performance.now()]
    await waitFor(
      () => {
        const received = this.#stream.size + this.#webhook.size
        if (received > before) [before, since] = [received, performance.now()]
        if (performance.now() - since > 60_000) return true
        return this.#stream.size >= mails && this.#webhook.size >= mails
      },
      { what: `${mails} mails on the stream and by webhook`, timeout: 3_600_000, interval: 50 },
    )
    if (this.#stream.size < mails || this.#webhook.size < mails) {
      throw new Error(`of ${mails} mails, ${this.#stream.size} came by stream and ${this.#webhook.size} by webhook`)
    }
  }

  async stop(): Promise<void> {
    for (const close of this.#close) await close()
  }

  /** Starts a receiver that answers at once and records only the time. @returns its URL. */
  async #receive(): Promise<string> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const at = performance.now()
        response.end()
        note(this.#webhook, JSON.parse(Buffer.concat(chunks).toString()), at)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.#close.push(async () => {
      server.closeAllConnections()
      server.close()
    })
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening on a port')
    return `http://127.0.0.1:${address.port}/`
  }
}

function note(times: Map<string, number>, event: Frame, at = performance.now()): void {
  const { message } = received.parse(event)
  // Delivery is at least once; the first time counts.
  if (!times.has(message.message_id)) times.set(message.message_id, at)
}
