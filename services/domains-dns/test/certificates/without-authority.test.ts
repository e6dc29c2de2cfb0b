import { waitFor } from '@restante/testkit'
import { service as domainsDns } from '../../src/main.ts'
import { tenant } from '../support/fixture.ts'
import { startStage } from './stage.ts'

describe('tracking hosts without a certificate authority', () => {
  it('are never ready, although their record is there', async () => {
    const stage = await startStage({})
    try {
      const { owner } = tenant()
      const name = await stage.tracked(owner)
      await waitFor(async () => (await stage.fixture.row(owner, name)).records.tracking?.status === 'VALID', {
        what: 'the check that finds the record',
      })
      expect((await stage.fixture.row(owner, name)).certified_until).toBeNull()
      expect(await stage.dueAt(name)).toBeUndefined()
    } finally {
      await stage.stop()
    }
  })

  it('are ready with their record where a proxy has certificates of its own, and not without it', async () => {
    const stage = await startStage({ TRACKING_TLS_BY_PROXY: 'true' })
    try {
      const { owner } = tenant()
      const name = await stage.tracked(owner)
      await waitFor(
        () => stage.fixture.states.records.some(({ value }) => value.includes(`"tracking_host":"link.${name}"`)),
        { what: 'the state with the tracking host' },
      )
      await stage.fixture.call('domains.update', owner, { domain: name, body: { tracking_enabled: false } })
      expect((await stage.fixture.row(owner, name)).certified_until).toBeNull()
      const env = { ...stage.fixture.env, ACME_DIRECTORY: 'https://acme.example/directory' }
      expect(() => domainsDns.configure(env)).toThrow('TRACKING_TLS_BY_PROXY')
      expect(() => domainsDns.configure({ ...env, TRACKING_TLS_BY_PROXY: '', ACME_EAB_KID: 'kid' })).toThrow(
        'ACME_EAB_HMAC_KEY',
      )
      expect(() =>
        domainsDns.configure({ ...env, TRACKING_TLS_BY_PROXY: '', ACME_DIRECTORY: 'http://acme.example' }),
      ).toThrow('https')
    } finally {
      await stage.stop()
    }
  })

  it('are not ready any more when the proxy with their certificates is given up', async () => {
    const stage = await startStage({ TRACKING_TLS_BY_PROXY: 'true' })
    try {
      const { owner } = tenant()
      const name = await stage.tracked(owner)
      const certifiedUntil = async () => (await stage.fixture.row(owner, name)).certified_until
      await waitFor(async () => (await certifiedUntil()) !== null, { what: 'the ready host' })
      await stage.fixture.restart({ TRACKING_TLS_BY_PROXY: '' })
      await stage.fixture.call('domains.verify', owner, { domain: name })
      await waitFor(async () => (await certifiedUntil()) === null, { what: 'the host that is not ready' })
    } finally {
      await stage.stop()
    }
  })

  it('are not ready any more when the last certificate of a former authority has expired', async () => {
    const stage = await startStage({})
    try {
      const { owner } = tenant()
      const name = await stage.tracked(owner)
      const certify = 'update domains set certified_until = now() where name = $1'
      await stage.fixture.db.query({ text: certify }, name)
      await stage.fixture.call('domains.verify', owner, { domain: name })
      const isReady = async () => (await stage.fixture.row(owner, name)).certified_until !== null
      await waitFor(async () => !(await isReady()), { what: 'the host that is not ready' })
    } finally {
      await stage.stop()
    }
  })
})
