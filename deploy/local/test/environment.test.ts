import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SERVICES, STORING_SERVICES } from '@restante/contracts/vocabulary'
import { serviceEnvironment } from '../environment.ts'
import { readSettings, root } from '../settings.ts'

const engines = {
  DATABASE_URL: 'postgres://restante@127.0.0.1:54329/postgres',
  REDIS_URL: 'redis://127.0.0.1:63799',
  KAFKA_BROKERS: '127.0.0.1:19092',
}

const place = { settings: readSettings({}), engines, secretOf: (name: string) => name.padEnd(32, '.') }

describe('the environment of the local stack', () => {
  it('covers every service', async () => {
    expect((await readdir(join(root, 'services'))).sort()).toEqual([...SERVICES].sort())
  })

  it.each(SERVICES)('has every variable that %s requires, in a valid form', async (service) => {
    const { configuration } = await import(join(root, 'services', service, 'src/config.ts'))
    const given = serviceEnvironment(service, place)
    expect(() => configuration.read(given)).not.toThrow()
  })

  it('gives each pair of services its own shared key', () => {
    const send = serviceEnvironment('mail-send', place)
    const ingest = serviceEnvironment('mail-ingest', place)
    expect(send['PEER_KEY_MAIL_INGEST']).toBe(ingest['PEER_KEY_MAIL_SEND'])
    expect(send['PEER_KEY_MAIL_INGEST']).not.toBe(send['PEER_KEY_GATEWAY'])
  })

  it('gives each service that stores a database of its own', () => {
    const databases = STORING_SERVICES.map((service) => serviceEnvironment(service, place)['DATABASE_URL'])
    expect(new Set(databases).size).toBe(STORING_SERVICES.length)
  })
})
