import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort, waitFor } from '@restante/testkit'
import { type AppsSigninFixture, startAppsSignin } from '../support/fixture.ts'
import { allow, makeSigner, RelyingParty } from '../support/relying-party.ts'

let fixture: AppsSigninFixture
beforeAll(async () => {
  fixture = await startAppsSignin()
})
afterAll(() => fixture.stop())

describe('the log of a sign-in', () => {
  it('has one line for each request, without code, token, cookie, verifier, address of a client or mail address', async () => {
    const [port, authPort, metricsPort] = await Promise.all([freePort(), freePort(), freePort()])
    const authBase = `http://localhost:${authPort}`
    const given = { PORT: `${port}`, AUTH_PORT: `${authPort}`, AUTH_BASE: authBase, METRICS_PORT: `${metricsPort}` }
    const main = path.resolve(import.meta.dirname, '../../src/main.ts')
    const env = { ...process.env, ...fixture.env, ...given, LOG_LEVEL: 'info' }
    const service = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const output = text(service.stdout)
    try {
      const isReady = async () => (await fetch(`${authBase}/readyz`).catch(() => undefined))?.ok
      await waitFor(isReady, { what: 'the process to be ready', timeout: 60_000 })
      const app = await fixture.app()
      const signer = await makeSigner(fixture)
      await allow(fixture, app, signer)
      const party = new RelyingParty({ ...fixture, authBase }, app)
      const jti = await party.begin({ login_hint: signer.inbox.address })
      const cookies = [...party.browser.cookies.values()]
      await party.sign(signer, jti)
      const code = new URL((await party.goOn(jti)).headers.get('location') ?? '').searchParams.get('code') ?? ''
      const { body } = await party.exchange(code)
      const { status } = await party.userInfo(body['access_token'])
      expect(status).toBe(200)
      service.kill('SIGTERM')
      const log = await output
      const secrets = [code, ...cookies, body['access_token'], body['id_token'], party.verifier, app.client_secret]
      for (const secret of [...secrets, signer.inbox.address, '127.0.0.1', '::1']) expect(log).not.toContain(secret)
      const lines = log.split('\n').filter((line) => line.includes('"operation":"signin.'))
      const operations = lines.map((line) => JSON.parse(line).operation)
      expect(operations).toEqual(['authorize', 'sign', 'continue', 'token', 'userinfo'].map((name) => `signin.${name}`))
      expect(JSON.parse(lines[2] ?? '')).toMatchObject({ transaction: jti, client_id: app.client_id, outcome: 'code' })
    } finally {
      service.kill('SIGKILL')
      if (service.exitCode === null && service.signalCode === null) await once(service, 'exit')
    }
  })
})
