import { lastingPeriod, operate, waitFor } from '@restante/testkit'
import { useSystem } from '../../support/suite.ts'
import { createTenant, newUsername } from '../../support/tenants.ts'

describe('what the operator allows one organization', () => {
  const system = useSystem()
  const someone = (): string => system.peer.address(newUsername())

  it('limits its sends by the next request, those of scheduled drafts too, and nobody else’s', async () => {
    await lastingPeriod(86_400_000)
    const { endpoints } = system
    const { id, client, api } = await createTenant(endpoints)
    const { inboxId } = await client.inboxes.create({})
    const send = (count: number) =>
      api.post(`/v0/inboxes/${inboxId}/messages/send`, { to: Array.from({ length: count }, someone), text: 'x' })
    expect(await operate(endpoints.operator, 'limits', 'set', id, '--organization', '2/d')).toContain('2/d')
    expect((await send(2)).status).toBe(200)
    expect(await send(1)).toMatchObject({ status: 429, body: { code: 'rate_limit_exceeded', limit: 2, window: 'day' } })
    const draft = { to: [someone()], text: 'Now', sendAt: new Date(Date.now() + 500) }
    const { draftId } = await client.inboxes.drafts.create(inboxId, draft)
    await waitFor(async () => (await client.drafts.get(draftId)).sendStatus === 'failed' || undefined, {
      what: 'the draft to fail',
    })
    const other = await system.tenant.client.inboxes.create({})
    await system.tenant.client.inboxes.messages.send(other.inboxId, {
      to: Array.from({ length: 3 }, someone),
      text: 'x',
    })
    await operate(endpoints.operator, 'limits', 'clear', id)
    expect((await send(3)).status).toBe(200)
  })
})
