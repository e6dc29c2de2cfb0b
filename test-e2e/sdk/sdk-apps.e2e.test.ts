import { newSignedInApp } from '../support/apps/accounts.ts'
import { useSystem } from '../support/suite.ts'

/** The npm client has the older names: apps are its providers. */
describe('the public client signs inboxes in to apps', () => {
  const system = useSystem()

  it('finds an app in the catalog, under its older name', async () => {
    const { inboxId } = await system.tenant.client.inboxes.create({})
    const { app_id, slug, account_id } = await newSignedInApp(system.endpoints, inboxId)
    const { providers } = system.tenant.client
    expect((await providers.list({ limit: 1 })).providers).toHaveLength(1)
    expect((await providers.search({ q: slug })).providers).toEqual([
      expect.objectContaining({ providerId: app_id, name: slug }),
    ])
    expect(await providers.get(app_id)).toMatchObject({ providerId: app_id, name: slug })
    const known = await providers.listAccounts(app_id)
    expect(known.provider).toMatchObject({ providerId: app_id })
    expect(known.accounts).toEqual([expect.objectContaining({ accountId: account_id, inboxId, providerId: app_id })])
  })

  it('begins a sign-in by a link, whose key it can follow', async () => {
    const { client } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    const { slug } = await newSignedInApp(system.endpoints, inboxId)
    const link = await client.providers.connect(slug, { inboxId })
    expect(link.magicUrl.startsWith(`${system.endpoints.signInUrl}/connect/`)).toBe(true)
    expect(await client.apiKeys.get(link.apiKeyId)).toMatchObject({ type: 'public_key', status: 'pending', inboxId })
  })

  it('authorizes a sign-in that waits in a browser, and the same again', async () => {
    const { client } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    const { auth_token: authToken } = await newSignedInApp(system.endpoints, inboxId)
    const authorized = await client.inboxes.authorize(inboxId, { authToken })
    expect(authorized.instructions).toBe('Authorization complete. Return to browser.')
    expect(await client.inboxes.authorize(inboxId, { authToken })).toEqual(authorized)
  })

  it('reads accounts', async () => {
    const { client } = system.tenant
    const { inboxId } = await client.inboxes.create({})
    const { account_id: accountId } = await newSignedInApp(system.endpoints, inboxId)
    const account = await client.accounts.get(accountId)
    expect(account).toMatchObject({ accountId, inboxId, signInCount: 1 })
    expect((await client.accounts.list()).accounts).toContainEqual(account)
  })
})
