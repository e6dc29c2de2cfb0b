import { compileGo, findGo, runGo } from '../go/program.ts'
import { registerApp } from '../support/apps/registration.ts'
import { describeAtFullLength } from '../support/programs/programs.ts'
import { useSystem } from '../support/suite.ts'
import { newAgent } from './agent.ts'
import { signInWithoutBrowser } from './browserless.ts'

/** The first run on a machine fetches and compiles the modules. */
const COMPILE_TIMEOUT = 300_000

describeAtFullLength({ programs: [findGo()] }, 'an app that uses go-oidc', () => {
  const system = useSystem()
  const CALLBACK = 'https://app.example/callback'
  let program: string
  beforeAll(async () => {
    program = await compileGo('relying-party')
  }, COMPILE_TIMEOUT)

  it('signs an inbox in with PKCE and verifies issuer, ID token and UserInfo, and its code works once', async () => {
    const agent = await newAgent(system, 'Procurement')
    const { appId, clientSecret } = await registerApp(system.endpoints.operator, { redirect_uris: [CALLBACK] })
    const variables = {
      ISSUER: system.endpoints.signInUrl,
      CLIENT_ID: appId,
      CLIENT_SECRET: clientSecret,
      REDIRECT_URI: CALLBACK,
    }
    const result = await runGo(program, variables, {
      browser: async ({ url }) => ({ back: await signInWithoutBrowser(agent, String(url)) }),
    })
    const shared = { email: agent.inboxId, email_verified: true, name: 'Procurement', actor_type: 'agent' }
    expect(result).toEqual({
      claims: expect.objectContaining({ ...shared, iss: variables.ISSUER, aud: appId, org: expect.any(String) }),
      user_info: expect.objectContaining(shared),
      again: 'invalid_grant',
      revoked: true,
    })
  })
})
