/**
 * Disconnect timeout for ioredis, in milliseconds. Its default, 2 s, applies even to sockets that are already closed.
 */
export const REDIS_DISCONNECT_MS = 100
