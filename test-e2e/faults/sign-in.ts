import { operate, PATIENCE_MS, waitFor } from '@restante/testkit'
import { ClientSecretBasic } from 'openid-client'
import { CALLBACK, signIn } from '../sign-in/openid-client.ts'
import { registerApp } from '../support/apps/registration.ts'
import type { Installation } from './harness/installation.ts'

/**
 * Signs the first inbox in to a new app, the first time and again. Sign-ins need PostgreSQL alone.
 * @param during what happens to the installation once the app is registered.
 */
export async function signInTwice(installation: Installation, during: () => Promise<void>): Promise<void> {
  const { inboxes, system, tenant } = installation
  const [inboxId = ''] = inboxes
  const agent = { inboxId, api: tenant.api }
  const { appId, clientSecret } = await registerApp(system.endpoints.operator, { redirect_uris: [CALLBACK] })
  const app = {
    issuer: system.endpoints.signInUrl,
    clientId: appId,
    authentication: ClientSecretBasic(clientSecret),
    scope: 'openid email',
  }
  await during()
  for (const count of [1, 2]) {
    expect((await signIn(agent, app)).claims).toMatchObject({ email: inboxId, aud: appId })
    const { body } = await tenant.api.get(`/v0/inboxes/${inboxId}/accounts`)
    expect(body['accounts']).toMatchObject([{ app_id: appId, sign_in_count: count }])
  }
}

/** Waits for both sign-ins in the audit log: what it learns over Kafka is late, and not lost. */
export async function bothInAuditLog({ system, tenant }: Installation): Promise<void> {
  const logged = async () => {
    const log = await operate(system.endpoints.operator, 'audit', '--organization', tenant.id)
    return log.split('sign_in.completed').length - 1
  }
  await waitFor(async () => (await logged()) === 2, {
    what: 'both sign-ins in the audit log',
    timeout: 2 * PATIENCE_MS,
    interval: 200,
  })
}
