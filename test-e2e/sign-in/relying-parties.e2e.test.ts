import { describeWith, missingPython } from '@restante/testkit'
import * as openid from 'openid-client'
import { runPython } from '../python/program.ts'
import { registerApp } from '../support/apps/registration.ts'
import { useOwnSystem } from '../support/suite.ts'
import { newAgent } from './agent.ts'
import { signInWithoutBrowser } from './browserless.ts'
import { CALLBACK, signIn } from './openid-client.ts'

describeWith({ programs: ['python3'], missing: missingPython() }, 'apps that use', () => {
  const system = useOwnSystem('relying-parties', async () => ({ OPEN_CLIENTS: 'true' }), ['gateway', 'apps-signin'])
  const signInAs = async (clientId: string, authentication: openid.ClientAuth, scope: string) => {
    const agent = await newAgent(system, 'Procurement')
    const issuer = system.endpoints.signInUrl
    return { agent, ...(await signIn(agent, { issuer, clientId, authentication, scope })) }
  }

  it('openid-client with a registration get every claim that they ask for', async () => {
    const { appId, clientSecret } = await registerApp(system.endpoints.operator, { redirect_uris: [CALLBACK] })
    const { agent, claims, userInfo } = await signInAs(
      appId,
      openid.ClientSecretBasic(clientSecret),
      'openid email profile',
    )
    const shared = { email: agent.inboxId, email_verified: true, name: 'Procurement', actor_type: 'agent' }
    expect(claims).toMatchObject({ ...shared, aud: appId, org: expect.any(String), scope: 'openid email profile' })
    expect(userInfo).toMatchObject({ ...shared, sub: claims?.sub })
  })

  it('openid-client without a registration get the address, and no more', async () => {
    const { agent, claims } = await signInAs('https://app.example/', openid.None(), 'openid email')
    expect(claims).toMatchObject({ email: agent.inboxId, aud: 'https://app.example/' })
    expect(claims).not.toHaveProperty('org')
    expect(claims).not.toHaveProperty('name')
  })

  it('Authlib verify the ID token by the published keys', async () => {
    const agent = await newAgent(system)
    const { appId, clientSecret } = await registerApp(system.endpoints.operator, { redirect_uris: [CALLBACK] })
    const given = {
      issuer: system.endpoints.signInUrl,
      client_id: appId,
      client_secret: clientSecret,
      redirect_uri: CALLBACK,
    }
    const result = await runPython('sign_in.py', system.endpoints, system.tenant.key, {
      app: () => given,
      browser: async ({ url }) => ({ back: await signInWithoutBrowser(agent, String(url)) }),
    })
    expect(result).toMatchObject({ claims: { email: agent.inboxId, aud: appId }, user_info: { email: agent.inboxId } })
  }, 600_000)
})
