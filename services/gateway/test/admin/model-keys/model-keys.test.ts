import { randomUUID } from 'node:crypto'
import { EXIT } from '../../../src/admin/program.ts'
import { PUBLIC_URL, startGateway, type TestGateway } from '../../gateway.ts'
import { attemptOn } from '../stores.ts'

const READING = ['calendar_event_read', 'calendar_read', 'draft_read', 'inbox_read', 'message_read']

describe('the operator’s command for a key of a model', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  const attempt = (...words: readonly string[]) => attemptOn(gateway, ['keys', 'create-for-model', ...words])

  /** An organization with an inbox. */
  async function withInbox() {
    const organization = await gateway.organization()
    const { body } = await organization.api.post('/v0/inboxes', { username: `m-${randomUUID()}` })
    return { ...organization, inbox: String(body['inbox_id']) }
  }

  it('binds it to the inbox, which its address alone names, and lets it read, draft and file', async () => {
    const { id, inbox } = await withInbox()
    const { code, printed } = await attempt(inbox.toUpperCase(), '--json')
    expect(code).toBe(EXIT.done)
    const made = JSON.parse(printed)
    expect(made).toMatchObject({
      organization_id: id,
      tier: 'inbox',
      name: 'Model',
      app_connect: false,
      permissions: [...READING, 'draft_create', 'message_update'].sort(),
      mcp_url: `${PUBLIC_URL}/mcp`,
    })
    const me = await gateway.as(made.api_key).get('/v0/auth/me')
    expect(me.body).toMatchObject({ scope_type: 'inbox', scope_id: inbox })
  })

  it.each([
    ['none', []],
    ['send', ['draft_send', 'draft_update', 'message_send']],
    ['labels, drafts', ['draft_create', 'message_update']],
    ['calendar', ['calendar_event_create', 'calendar_event_delete', 'calendar_event_update']],
    ['delete', ['draft_delete', 'message_delete']],
    ['send,send', ['draft_send', 'draft_update', 'message_send']],
  ])('with --allow %s grants reading and just that', async (allow, further) => {
    const { inbox } = await withInbox()
    const { printed } = await attempt(inbox, '--allow', allow, '--json')
    expect(JSON.parse(printed).permissions).toEqual([...READING, ...further].sort())
  })

  it('never grants mail that is kept apart, nor what outlives a conversation', async () => {
    const { inbox } = await withInbox()
    const { printed } = await attempt(inbox, '--allow', 'drafts,labels,send,calendar,delete', '--json')
    const granted: string[] = JSON.parse(printed).permissions
    const kept = /^(label|webhook|list_entry|api_key|domain|app|account|pod|metrics)_|^inbox_(create|update|delete)$/
    expect(granted.filter((name) => kept.test(name))).toEqual([])
  })

  it('prints the secret once as such, and what to paste into programs', async () => {
    const { inbox } = await withInbox()
    const expires = '2099-01-01T00:00:00.000Z'
    const { printed } = await attempt(inbox, '--name', 'Desk', '--allow', 'labels,send', '--expires', expires)
    const secret = /^API key {6}(am_us_[0-9a-f]{64})$/m.exec(printed)?.[1] ?? ''
    const url = `${PUBLIC_URL}/mcp`
    expect(printed).toMatch(/^Key +\S+\nMay +read, labels, send\n/)
    expect(printed).toContain(
      `\n  claude mcp add --transport http restante ${url} --header "Authorization: Bearer ${secret}"\n`,
    )
    const snippet = printed.split('\n').find((line) => line.startsWith('  {'))
    expect(JSON.parse(snippet ?? '')).toEqual({
      mcpServers: { restante: { type: 'http', url, headers: { Authorization: `Bearer ${secret}` } } },
    })
    const key = await gateway.db.orm.credential.findFirstOrThrow({ where: { name: 'Desk' } })
    expect(key.expiresAt?.toISOString()).toBe(expires)
  })

  it('records the key, by the operator, and counts it against the limit of the organization', async () => {
    const { id, inbox } = await withInbox()
    await attempt(inbox)
    const where = { organizationId: id, action: 'credential.created', actorId: 'tester' }
    expect(await gateway.db.orm.auditEntry.count({ where })).toBe(2)
    await gateway.operator.setLimits(id, { keys: 2 })
    expect(await attempt(inbox)).toEqual({ code: EXIT.refused, printed: '', said: 'API key limit exceeded' })
  })

  it('asks for the organization where several have an inbox of this address', async () => {
    const [one, other] = [await withInbox(), await withInbox()]
    const address = `desk@${randomUUID()}.example`
    const where = { address: { in: [one.inbox, other.inbox] } }
    await gateway.db.orm.inbox.updateMany({ where, data: { address, ownDomain: true } })
    const refused = await attempt(address)
    expect(refused).toMatchObject({ code: EXIT.refused, printed: '' })
    for (const part of [one.id, other.id, '--organization']) expect(refused.said).toContain(part)
    const { printed } = await attempt(address, '--organization', other.id, '--json')
    expect(JSON.parse(printed)).toMatchObject({ organization_id: other.id, tier: 'inbox' })
  })

  it.each([
    ['an unknown inbox', ['nobody@restante.test'], EXIT.refused, 'no inbox nobody@restante.test'],
    ['what does not exist', ['a@restante.test', '--allow', 'everything'], EXIT.misused, 'drafts, labels, send'],
    ['an organization without an id', ['a@restante.test', '--organization', 'acme'], EXIT.misused, 'UUID'],
    ['no inbox', [], EXIT.misused, "missing required argument 'inbox'"],
  ])('refuses %s', async (_what, words, code, said) => {
    expect(await attempt(...words)).toMatchObject({ code, printed: '', said: expect.stringContaining(said) })
  })

  it('refuses an inbox of another organization, and one that is deleted', async () => {
    const [one, other] = [await withInbox(), await withInbox()]
    const refused = await attempt(one.inbox, '--organization', other.id)
    expect(refused).toMatchObject({ code: EXIT.refused, said: `The organization has no inbox ${one.inbox}.` })
    await one.api.delete(`/v0/inboxes/${one.inbox}`)
    expect(await attempt(one.inbox)).toMatchObject({ code: EXIT.refused, said: `There is no inbox ${one.inbox}.` })
  })
})
