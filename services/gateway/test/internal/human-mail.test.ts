import { randomUUID } from 'node:crypto'
import { ServiceClient, UpstreamRejectedError } from '@restante/service/http'
import { PEER_KEY, startGateway, type TestGateway } from '../gateway.ts'

describe('gateway.mailHuman', () => {
  let gateway: TestGateway
  let dispatcher: ServiceClient<'webhooks-dispatcher'>

  beforeAll(async () => {
    gateway = await startGateway()
    dispatcher = new ServiceClient({ from: 'webhooks-dispatcher', to: 'gateway', url: gateway.url, key: PEER_KEY })
  })
  afterAll(async () => {
    await dispatcher.stop()
    await gateway.stop()
  })

  async function organizationOf(humanEmail: string | null, authenticationType: string | null): Promise<string> {
    const { id } = await gateway.organization()
    await gateway.db.orm.organization.update({ where: { id }, data: { humanEmail, authenticationType } })
    return id
  }
  const mail = (organization_id: string, id = randomUUID()) =>
    dispatcher.call('gateway.mailHuman', { id, organization_id, subject: 'A webhook is failing', text: 'Since days.' })
  const newHuman = () => `human-${randomUUID()}@people.test`

  it.each([
    ['a code has verified', 'agent_verified'],
    ['the operator has set', null],
  ])('mails the human that %s, and hands the id on', async (_what, type) => {
    const [human, id] = [newHuman(), randomUUID()]
    expect(await mail(await organizationOf(human, type), id)).toEqual({ mailed: true })
    expect(gateway.behind.systemMails.at(-1)).toEqual({
      id,
      to: human,
      subject: 'A webhook is failing',
      text: 'Since days.',
    })
  })

  it('mails the human that apps-signin names, and nobody who came in place of them', async () => {
    const from = { from: 'apps-signin', to: 'gateway', url: gateway.url, key: PEER_KEY } as const
    const signIn = new ServiceClient<'apps-signin'>(from)
    const { id: organization_id, api } = await gateway.organization()
    const { body } = await api.post('/v0/inboxes', {})
    const becomes = (humanEmail: string) =>
      gateway.db.orm.organization.update({ where: { id: organization_id }, data: { humanEmail } })
    await becomes(newHuman())
    const inbox = { address: String(body['inbox_id']) }
    const facts = await signIn.call('gateway.getSignInFacts', { inbox, used: false })
    const approval = {
      id: randomUUID(),
      organization_id,
      owner_id: facts.owner?.id,
      subject: 'Share your address?',
      text: 'https://signin.test/owner/t',
    }
    expect(await signIn.call('gateway.mailHuman', approval)).toEqual({ mailed: true })
    expect(gateway.behind.systemMails.at(-1)).toMatchObject({ id: approval.id, text: approval.text })
    const before = gateway.behind.systemMails.length
    await becomes(newHuman())
    expect(await signIn.call('gateway.mailHuman', { ...approval, id: randomUUID() })).toEqual({ mailed: false })
    expect(gateway.behind.systemMails).toHaveLength(before)
    await signIn.stop()
  })

  it('mails nobody where the human is unverified, absent or cannot be mailed, and none of an unknown organization', async () => {
    const before = gateway.behind.systemMails.length
    expect(await mail(await organizationOf(newHuman(), 'agent_unverified'))).toEqual({ mailed: false })
    expect(await mail(await organizationOf(null, null))).toEqual({ mailed: false })
    expect(await mail(randomUUID())).toEqual({ mailed: false })
    expect(gateway.behind.systemMails).toHaveLength(before)
    const human = newHuman()
    gateway.behind.unmailable.add(human)
    expect(await mail(await organizationOf(human, 'agent_verified'))).toEqual({ mailed: false })
  })

  it('fails when mail-send does not answer, so that the call is repeated', async () => {
    const id = await organizationOf(newHuman(), 'agent_verified')
    gateway.behind.down = true
    const failure = await mail(id).catch((error: unknown) => error)
    gateway.behind.down = false
    expect(failure).toBeInstanceOf(Error)
    expect(failure).not.toBeInstanceOf(UpstreamRejectedError)
  })
})
