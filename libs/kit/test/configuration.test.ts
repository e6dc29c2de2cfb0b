import { ConfigurationError, env } from '@restante/service/configuration'
import { z } from 'zod'
import {
  blobVariables,
  callerVariables,
  configurationOf,
  cursorVariables,
  dnsVariables,
  redisCacheVariables,
  redisVariables,
  together,
} from '../src/index.ts'

const SECRET = 'a secret of at least 16 characters'
const GIVEN = {
  DATABASE_URL: 'postgres://127.0.0.1/x',
  PUBLIC_URL: 'https://api.restante.test/',
  GATEWAY_URL: 'http://gateway:3000',
  PEER_KEY_GATEWAY: SECRET,
}

describe('the configuration of a service', () => {
  const base = configurationOf('mail-send', { peers: ['gateway'] })

  it('holds what every service has: ports, links of errors, peers', () => {
    const config = base.read(GIVEN)
    expect(config).toMatchObject({
      service: 'mail-send',
      http: { port: 3002, host: '0.0.0.0' },
      publicUrl: 'https://api.restante.test',
      docsUrl: 'https://api.restante.test/docs',
    })
    expect(config.peers.of('gateway')).toEqual({ url: 'http://gateway:3000', key: SECRET })
    expect(config.peers.keys).toEqual({ gateway: SECRET })
    expect(() => config.peers.of('websocket-fanout')).toThrow('does not declare websocket-fanout')
  })

  it('reads blocks in order, and gives each what those before it yielded', () => {
    const configuration = base.with(redisVariables).with({
      variables: z.object({ GREETING: env.string('hello') }),
      configure: (given, { redis }) => ({ greeting: `${given.GREETING} from ${redis.prefix}` }),
    })
    const config = configuration.read({ ...GIVEN, REDIS_URL: 'redis://127.0.0.1', GREETING: '' })
    expect(config.greeting).toBe('hello from restante:mail-send')
  })

  it('counts in the Redis of the cache, in that of the queues, or in none', () => {
    const cacheOf = (more: object) => base.with(redisCacheVariables).read({ ...GIVEN, ...more }).redisCache.url
    expect(cacheOf({})).toBeUndefined()
    expect(cacheOf({ REDIS_URL: 'redis://queues' })).toBe('redis://queues')
    expect(cacheOf({ REDIS_URL: 'redis://queues', REDIS_CACHE_URL: 'redis://cache' })).toBe('redis://cache')
  })

  it('names the wrong variables of all blocks at once, and no value', () => {
    const configuration = base.with(callerVariables).with(cursorVariables).with(blobVariables).with(dnsVariables)
    const wrong = { PORT: 'no port', CURSOR_SECRET: 'short', BLOB_STORE: 'somewhere', DNS_SERVERS: 'dns.example' }
    const read = () => configuration.read(wrong)
    expect(read).toThrow(ConfigurationError)
    for (const name of ['PORT', 'DATABASE_URL', 'PUBLIC_URL', 'GATEWAY_URL', 'PEER_KEY_GATEWAY', 'CALLER_KEY']) {
      expect(read).toThrow(new RegExp(`- ${name} `))
    }
    for (const name of ['CURSOR_SECRET', 'BLOB_STORE', 'DNS_SERVERS']) expect(read).toThrow(new RegExp(`- ${name} `))
    expect(read).not.toThrow('short')
  })

  it('checks variables that belong together once each of them is right', () => {
    const configuration = base.with({
      variables: z.object({ USER: env.string().optional(), PASSWORD: env.string().optional() }),
      check: (given) => together(given, 'USER', 'PASSWORD'),
      configure: () => ({}),
    })
    expect(() => configuration.read({ ...GIVEN, USER: 'me' })).toThrow('PASSWORD is missing')
    expect(() => configuration.read({ ...GIVEN, PASSWORD: 'mine' })).toThrow('USER is missing')
    expect(() => configuration.read({ ...GIVEN, USER: 'me', PASSWORD: 'mine' })).not.toThrow()
  })
})
