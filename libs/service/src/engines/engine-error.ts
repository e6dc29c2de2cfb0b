import { codeOf, isError } from '../errors/error-codes.ts'
import { UpstreamError } from '../errors/infrastructure.ts'

export type EngineName = 'PostgreSQL' | 'Redis' | 'Kafka' | 'The token endpoint of Kafka' | 'The object store'

/**
 * An engine that cannot be used as this process is configured: TLS or authentication failed. It counts as an outage,
 * because it is no fault of the work: work waits until the operator has corrected one side.
 */
export class EngineAccessError extends UpstreamError {
  readonly engine: EngineName
  constructor(engine: EngineName, problem: string, cause: unknown) {
    super(`${engine}: ${problem}`, { cause })
    this.name = 'EngineAccessError'
    this.engine = engine
  }
}

/** What an operator changes, by engine. */
const SETTINGS: Record<
  EngineName,
  { readonly withTls: string; readonly withoutTls: string; readonly credentials: string }
> = {
  PostgreSQL: {
    withTls: 'add sslmode=verify-full to DATABASE_URL',
    withoutTls: 'enable ssl in PostgreSQL, or remove sslmode from DATABASE_URL',
    credentials: 'correct the user and password in DATABASE_URL',
  },
  Redis: {
    withTls: 'begin its URL with rediss://',
    withoutTls: 'use its TLS port, or begin its URL with redis://',
    credentials: 'correct the user and password in its URL, rediss://user:password@host',
  },
  Kafka: {
    withTls: 'set KAFKA_SSL=true',
    withoutTls: 'use a listener with TLS, or unset KAFKA_SSL',
    credentials: 'correct KAFKA_SASL_MECHANISM and the credentials that it needs, or the user at the brokers',
  },
  'The token endpoint of Kafka': {
    withTls: 'begin KAFKA_OAUTH_TOKEN_URL with https://',
    withoutTls: 'begin KAFKA_OAUTH_TOKEN_URL with http://',
    credentials: 'correct KAFKA_OAUTH_CLIENT_ID and KAFKA_OAUTH_CLIENT_SECRET',
  },
  'The object store': {
    withTls: 'begin the endpoint in BLOB_STORE with https://',
    withoutTls: 'begin the endpoint in BLOB_STORE with http://',
    credentials: 'correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  },
}

/** OpenSSL's and Node's codes for a chain that ends at no trusted authority. */
const UNTRUSTED =
  /SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/
const OUTSIDE_OF_TIME = /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/
/** An answer that is no TLS, to the first message of a TLS handshake. */
const NO_TLS =
  /ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_UNEXPECTED_MESSAGE|The server does not support SSL connections/
/** What servers report to clients without TLS. */
const TLS_REQUIRED = /no pg_hba\.conf entry .*no encryption|SSL required/
/** Of PostgreSQL its codes, which are looked for only where a code is: an address may hold the same digits as a port. */
const REFUSED_CREDENTIALS =
  /^\S+ (?:28P01|28000) |password authentication failed|client password must be a string|SASL: |WRONGPASS|NOAUTH|KafkaJSSASLAuthenticationError|Authentication failed|InvalidAccessKeyId|SignatureDoesNotMatch/m

/**
 * The error of a connection, with what to do when TLS or authentication is the reason. Others are returned unchanged.
 * @param tls whether the connection was to use TLS.
 */
export function explained<E>(engine: EngineName, tls: boolean, error: E): E | EngineAccessError {
  if (error instanceof EngineAccessError) return error
  const found = adviceFor(engine, tls, error)
  return found === undefined ? error : new EngineAccessError(engine, found, error)
}

function adviceFor(engine: EngineName, tls: boolean, error: unknown): string | undefined {
  const facts = factsOf(error)
  const { withTls, withoutTls, credentials } = SETTINGS[engine]
  const altName = /ERR_TLS_CERT_ALTNAME_INVALID/.test(facts)
  if (altName)
    return `its certificate is for another host; connect by a name that the certificate holds (${last(error)})`
  const untrusted = UNTRUSTED.exec(facts)?.[0]
  if (untrusted !== undefined)
    return `no trusted authority has signed its certificate (${untrusted}); name the file of its authority in ENGINE_CA_FILE`
  const time = OUTSIDE_OF_TIME.exec(facts)?.[0]
  if (time !== undefined) return `its certificate is not valid now (${time}); renew it, or correct the clock`
  if (NO_TLS.test(facts)) return `it does not speak TLS there; ${withoutTls}`
  if (TLS_REQUIRED.test(facts)) return `it requires TLS; ${withTls}`
  if (REFUSED_CREDENTIALS.test(facts)) return `it refused the credentials (${last(error)}); ${credentials}`
  if (!tls && closedAtOnce(engine, facts)) return `it closed the connection; if it requires TLS there, ${withTls}`
  return undefined
}

/** Brokers and Redis close a connection without a word when its first bytes are no TLS. */
function closedAtOnce(engine: EngineName, facts: string): boolean {
  if (engine === 'Kafka') return /KafkaJSConnectionClosedError/.test(facts)
  return engine === 'Redis' && /ECONNRESET/.test(facts)
}

/** Names, codes and messages of an error and of its causes, each on a line that begins with name and code. */
function factsOf(error: unknown): string {
  return chainOf(error)
    .map((each) => `${each.name} ${codeOf(each) ?? ''} ${each.message}`)
    .join('\n')
}

/** The message of the innermost cause, which names the fact. */
function last(error: unknown): string {
  return chainOf(error).at(-1)?.message ?? ''
}

function chainOf(error: unknown): Error[] {
  const chain: Error[] = []
  for (let each = error; isError(each) && !chain.includes(each); each = each.cause) chain.push(each)
  return chain
}
