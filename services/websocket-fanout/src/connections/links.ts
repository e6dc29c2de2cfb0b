import type { ServiceName } from '@restante/contracts/vocabulary'
import { answerOnSocket, type RequestedLink } from '@restante/service/http'
import { InvalidTokenError } from '@restante/service/identity'
import { acceptLink, type Link, verifyLinkRequest } from '@restante/service/links'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'

export interface LinksOptions {
  /** The key shared with each service that may open a link. */
  readonly peerKeys: Readonly<Partial<Record<ServiceName, string>>>
  readonly log: Logger
}

/**
 * The links of gateways. A link is trusted with nothing: each stream on it brings its own handshake and caller token, as one
 * on a connection of its own does.
 */
export class Links implements Component {
  readonly name = 'links'
  readonly stage = 'sessions'
  readonly #options: LinksOptions
  readonly #links = new Set<Link>()
  #isLeaving = false

  constructor(options: LinksOptions) {
    this.#options = options
  }

  /** The listener's `link`. Never rejects: failures are answered on the socket. */
  readonly accept = (requested: RequestedLink): void => {
    const { socket } = requested
    socket.on('error', () => socket.destroy())
    this.#accept(requested).catch((error: unknown) => {
      const isRefused = error instanceof InvalidTokenError
      this.#options.log.warn({ err: error }, 'link refused')
      answerOnSocket(socket, {
        status: isRefused ? 401 : 500,
        body: { message: isRefused ? 'Unauthorized' : 'Failed' },
      })
    })
  }

  async #accept({ request, socket, head, serve }: RequestedLink): Promise<void> {
    const { peerKeys, log } = this.#options
    const peer = await verifyLinkRequest(request.headers, peerKeys, 'websocket-fanout')
    // Until the server stops, a gateway that finds no other instance opens streams without a link.
    if (this.#isLeaving) return answerOnSocket(socket, { status: 503, body: { message: 'Shutting down' } })
    if (socket.destroyed) return
    const link = acceptLink({
      socket,
      head,
      accept: serve,
      onClose: (reason) => {
        this.#links.delete(link)
        log.info({ err: reason, peer_service: peer }, 'link closed')
      },
    })
    this.#links.add(link)
    log.info({ peer_service: peer }, 'link opened')
  }

  /** Sends new streams elsewhere, before those that are open are closed one after another. Gateways close the empty links. */
  async stop(): Promise<void> {
    this.#isLeaving = true
    for (const link of this.#links) link.leave()
  }
}
