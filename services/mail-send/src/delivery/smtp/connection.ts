import type { Socket } from 'node:net'
import type { TlsaRecord } from 'mx-connect'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection'

/** One host that may accept mail, and how to connect to it. */
export interface RemoteHost {
  /** Name for the log, for delivery events, and for the certificate. */
  readonly name: string
  readonly port: number
  /** IP address of `socket`. */
  readonly address?: string
  /** An open TCP connection; without one the session connects to `name` by itself. */
  readonly socket?: Socket
  readonly tls: 'opportunistic' | 'required' | 'implicit' | 'none'
  /**
   * Certificates are verified only where an operator configured the host, or where a policy of the domain lists it: for
   * any other MX from DNS there is nothing to verify.
   */
  readonly verified: boolean
  /** Certificate authorities instead of the public ones, PEM. */
  readonly ca?: string
  /** The server is recognised by these records, and otherwise left (RFC 7672). */
  readonly tlsa?: { readonly records: readonly TlsaRecord[]; readonly names: readonly string[] }
  readonly credentials?: { readonly user: string; readonly pass: string }
}

export interface Timeouts {
  readonly connectMs: number
  /** Longest silence of the server, from the greeting to the answer after the message. */
  readonly answerMs: number
}

/** The host and the limits in the form in which nodemailer takes them. */
export function connectionOptions(remote: RemoteHost, ehloName: string, timeouts: Timeouts): SMTPConnectionOptions {
  return {
    host: remote.name,
    port: remote.port,
    ...(remote.socket !== undefined && { connection: remote.socket }),
    name: ehloName,
    secure: remote.tls === 'implicit',
    ignoreTLS: remote.tls === 'none',
    requireTLS: remote.tls === 'required',
    tls: {
      rejectUnauthorized: remote.verified,
      ...(remote.ca !== undefined && { ca: remote.ca }),
      servername: remote.name,
      minVersion: remote.verified || remote.tlsa ? 'TLSv1.2' : 'TLSv1',
    },
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.answerMs,
    socketTimeout: timeouts.answerMs,
    logger: false,
  }
}

/** Connects, greets, and encrypts the connection if the host supports it. @throws the error of the step that failed. */
export function connect(connection: SMTPConnection): Promise<void> {
  return untilDone(connection, (done) => connection.connect(done))
}

/** Logs in. @throws the error of the step that failed. */
export function login(connection: SMTPConnection, credentials: { user: string; pass: string }): Promise<void> {
  return untilDone(connection, (done) => connection.login({ credentials }, done))
}

/**
 * Runs one step of the session, which ends with its callback, with an error event, or with the end of the connection.
 */
async function untilDone(
  connection: SMTPConnection,
  step: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const ended = (): void => reject(new Error('the connection was closed'))
  connection.once('error', reject)
  connection.once('end', ended)
  try {
    step((error) => (error ? reject(error) : resolve()))
    await promise
  } finally {
    connection.off('error', reject)
    connection.off('end', ended)
  }
}
