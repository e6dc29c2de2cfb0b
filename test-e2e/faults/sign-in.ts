import { operate, waitFor } from '@restante/testkit'
import { ClientSecretBasic } from 'openid-client'
import { CALLBACK, signIn } from '../sign-in/openid-client.ts'
import { registerApp } from '../support/apps/registration.ts'
import type { Installation } from './harness/installation.ts'

const ENGINES = ['redis', 'kafka'] as const

/** Sign-ins need PostgreSQL alone. */
export function describeSignIn(installationOf: () => Installation): void {
  it('signs inboxes in to apps, the first time and again, without Redis and Kafka', async () => {
    const installation = installationOf()
    const { engines, inboxes, system, tenant } = installation
    const [inboxId = ''] = inboxes
    const agent = { inboxId, api: tenant.api }
    const { appId, clientSecret } = await registerApp(system.endpoints.operator, { redirect_uris: [CALLBACK] })
    const app = {
      issuer: system.endpoints.signInUrl,
      clientId: appId,
      authentication: ClientSecretBasic(clientSecret),
      scope: 'openid email',
    }
    for (const name of ENGINES) await engines.kill(name)
    for (const count of [1, 2]) {
      expect((await signIn(agent, app)).claims).toMatchObject({ email: inboxId, aud: appId })
      const { body } = await tenant.api.get(`/v0/inboxes/${inboxId}/accounts`)
      expect(body['accounts']).toMatchObject([{ app_id: appId, sign_in_count: count }])
    }
    for (const name of ENGINES) await engines.restart(name)
    // What the audit log learns over Kafka is late, and not lost.
    const logged = async () => {
      const log = await operate(system.endpoints.operator, 'audit', '--organization', tenant.id)
      return log.split('sign_in.completed').length - 1
    }
    await waitFor(async () => (await logged()) === 2, { what: 'both sign-ins in the audit log', timeout: 60_000 })
    await installation.expectEverything()
  }, 180_000)
}
