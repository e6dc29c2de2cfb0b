import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { sql } from '@restante/service/database'
import { serviceCommand } from '@restante/service/process'
import { describeAtFullLength, freePort, waitFor } from '@restante/testkit'
import { newName, tenant } from '../support/fixture.ts'
import { type CertifiedStage, startCertifiedStage } from './certified-stage.ts'

const CHALLENGES = sql<{ host: string }, [host: string]>('select host from certificate_challenges where host = $1')
const REVOCATIONS = sql<{ id: string }>('select id from certificate_revocations')
const MAIN = path.resolve(import.meta.dirname, '../../src/main.ts')

describeAtFullLength({ programs: ['pebble'] }, 'an order of a certificate', () => {
  let stage: CertifiedStage

  beforeAll(async () => {
    stage = await startCertifiedStage()
  })
  afterAll(() => stage.stop())

  it('is made anew after its process was killed in the middle of it', async () => {
    // Without an authority the service leaves orders to other processes.
    await stage.fixture.restart({ ACME_DIRECTORY: '' })
    const [program, ...args] = serviceCommand(MAIN)
    const env = { ...process.env, ...stage.fixture.env, PORT: String(await freePort()), LOG_LEVEL: 'silent' }
    const child = spawn(program, args, { env, stdio: 'ignore' })
    try {
      const name = newName()
      // The authority waits for an address, so that the order goes on until the process is killed.
      stage.zone.silence(`link.${name}`)
      await stage.tracked(tenant().owner, name)
      await waitFor(async () => (await stage.fixture.db.query(CHALLENGES, `link.${name}`)).length > 0, {
        what: 'the challenge',
      })
      child.kill('SIGKILL')
      await once(child, 'exit')
      expect(await stage.orders(name)).toEqual([{ outcome: null, retry_at: null }])

      stage.zone.set(`link.${name}`, { type: 'A', address: '127.0.0.1' })
      await stage.fixture.restart()
      // The order that was killed counts as a failure, and delays the next one.
      await waitFor(async () => ((await stage.dueAt(name)) ?? new Date(0)) > new Date(Date.now() + 20_000), {
        what: 'the next step to be delayed',
      })
      await stage.age(name)
      await stage.certified(name)
      expect(await stage.orders(name)).toMatchObject([{ outcome: null }, { outcome: 'issued' }])
    } finally {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    }
  })

  it('leaves nothing when its domain is deleted in the middle of it', async () => {
    const { owner } = tenant()
    const name = newName()
    stage.zone.silence(`link.${name}`)
    await stage.tracked(owner, name)
    await waitFor(async () => (await stage.fixture.db.query(CHALLENGES, `link.${name}`)).length > 0, {
      what: 'the challenge',
    })
    expect((await stage.fixture.call('domains.delete', owner, { domain: name })).status).toBe(204)
    expect(await stage.fixture.db.query(CHALLENGES, `link.${name}`)).toEqual([])
    expect(await stage.dueAt(name)).toBeUndefined()
    stage.zone.set(`link.${name}`, { type: 'A', address: '127.0.0.1' })
    // A certificate that the authority issues nevertheless is revoked instead of stored.
    await waitFor(async () => (await stage.fixture.db.query(REVOCATIONS)).length === 0, {
      what: 'the end of revocations',
    })
    expect(await stage.stored(name)).toBeUndefined()
  })
})
