import { createServer, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { SecureContext } from 'node:tls'
import type { Logger } from '../../telemetry/logger.ts'

/** Finds the certificate, with its key, for the name that a client asks for; without one its handshake is refused. */
export type FindSecureContext = (servername: string) => Promise<SecureContext | undefined>

interface Front {
  readonly secureContextOf?: FindSecureContext
  readonly log: Logger
}

const HANDSHAKE_MS = 10_000

/** A server without TLS, or one for TLS 1.2 and newer that has no certificate but those that are found. */
export function createHttpServer({ secureContextOf, log }: Front, options: ServerOptions): Server {
  if (secureContextOf === undefined) return createServer(options)
  return createTlsServer({
    ...options,
    minVersion: 'TLSv1.2',
    handshakeTimeout: HANDSHAKE_MS,
    SNICallback: (servername, done) => {
      secureContextOf(servername).then(
        (context) => done(null, context),
        (error: unknown) => {
          log.warn({ err: error, servername }, 'TLS handshake refused: certificate not available')
          done(null)
        },
      )
    },
  })
}
