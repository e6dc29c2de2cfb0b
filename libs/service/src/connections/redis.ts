/** ioredis waits so long, in milliseconds, for a connection that it ends, even for one that is closed already; by itself 2 s. */
export const REDIS_DISCONNECT_MS = 100
