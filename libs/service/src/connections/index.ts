export { OptionalRedis, type OptionalRedisOptions } from './optional-redis.ts'
export { networkOf, PeerLimit } from './peer-limit.ts'
export { REDIS_DISCONNECT_MS, type RedisAddress, redisError, redisTls } from './redis.ts'
export { subnetOf, withinNetworks } from './subnet.ts'
