import type { RedisOptions } from 'ioredis'
import { type EngineAccessError, type EngineTrust, explained } from '../engines/index.ts'

/**
 * Disconnect timeout for ioredis, in milliseconds. Its default, 2 s, applies even to sockets that are already closed.
 */
export const REDIS_DISCONNECT_MS = 100

/** A Redis and how its server is verified. */
export interface RedisAddress {
  /** `redis://` or, over TLS, `rediss://user:password@host:port`. */
  readonly url: string
  /** The authorities of `ENGINE_CA_FILE`; without them the public ones. */
  readonly trust?: EngineTrust | undefined
}

/** The options for ioredis about TLS, for a connection to this address. */
export function redisTls({ url, trust }: RedisAddress): Pick<RedisOptions, 'tls'> {
  return usesTls(url) && trust !== undefined ? { tls: { secureContext: trust.secureContext } } : {}
}

/** An error of a connection to Redis, with what to do when TLS or authentication is the reason. */
export function redisError<E>(url: string, error: E): E | EngineAccessError {
  return explained('Redis', usesTls(url), error)
}

function usesTls(url: string): boolean {
  return url.startsWith('rediss://')
}
