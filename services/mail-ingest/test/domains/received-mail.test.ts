import { randomUUID } from 'node:crypto'
import { ReturnPath } from '@restante/mime'
import { countRows, queryRows, sendMail, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { sentCopy } from '../mailbox-fixture.ts'
import { DomainOwner, newRegistration, stateOf } from './registrations.ts'

/** The inboxes of these tests are on a domain that is not the one of the installation. */
const DOMAIN = 'eu.customer.test'
const PARENT = 'customer.test'

let fixture: Fixture
let owner: DomainOwner
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture({ DEFAULT_DOMAIN: 'restante.test' }, DOMAIN)
  owner = new DomainOwner(fixture)
  inbox = await fixture.inbox()
})
afterAll(async () => {
  await owner.stop()
  await fixture.stop()
})
afterEach(async () => {
  fixture.domainsDns.down = false
  fixture.domainsDns.registered.clear()
  await queryRows(fixture.db, 'delete from registered_domains')
})

const send = (to: string | string[] = inbox.address) =>
  sendMail({ port: fixture.smtpPort, from: 'ada@sender.test', to, subject: 'Hello', text: randomUUID() })
const refused = (code: string) => ({ responseCode: 550, response: expect.stringContaining(code) })
const mine = (domain: string) => newRegistration(domain, inbox.organization_id)
const stored = () => countRows(fixture.db, 'messages where inbox_uid = $1', inbox.inbox_uid)

async function arrives(to = inbox.address): Promise<void> {
  const before = await stored()
  await send(to)
  await waitFor(async () => (await stored()) === before + 1, { what: 'the mail' })
}

describe('mail for an inbox on a custom domain', () => {
  it('arrives once its domain was proven, whatever its status since, and with a tag as well', async () => {
    const domain = mine(DOMAIN)
    for (const status of ['VERIFIED', 'PENDING', 'INVALID', 'FAILED'] as const) {
      await owner.set(domain, { status })
      await arrives()
    }
    await arrives(inbox.address.replace('@', '+tag@'))
    await arrives(inbox.address.toUpperCase())
  })

  it('is refused with 5.1.2 while inbound is disabled, and arrives once it is enabled again', async () => {
    const domain = mine(DOMAIN)
    await owner.set(domain, { inbound_enabled: false })
    await expect(send()).rejects.toMatchObject(refused('5.1.2'))
    await owner.set(domain, { inbound_enabled: true })
    await arrives()
  })

  it('is refused with 5.1.2 after its domain was deleted, until it is registered again and proven', async () => {
    const domain = mine(DOMAIN)
    await owner.set(domain)
    await owner.delete(domain)
    await expect(send()).rejects.toMatchObject(refused('5.1.2'))
    const again = mine(DOMAIN)
    await owner.set(again, { proven: false, status: 'PENDING' })
    await expect(send()).rejects.toMatchObject(refused('5.1.2'))
    await owner.set(again)
    await arrives()
  })

  it('arrives below a domain with subdomains, and is refused with 5.1.2 below one without', async () => {
    const parent = mine(PARENT)
    await owner.set(parent, { subdomains_enabled: true, inbound_enabled: false })
    await arrives()
    await owner.set(parent, { subdomains_enabled: false })
    await expect(send()).rejects.toMatchObject(refused('5.1.2'))
  })

  it('is not affected by registrations of other organizations that have proven nothing', async () => {
    await owner.set(mine(DOMAIN))
    const foreign = newRegistration(DOMAIN)
    await owner.set(foreign, { inbound_enabled: false, proven: false, status: 'PENDING' })
    await arrives()
    await owner.delete(foreign)
    await arrives()
  })

  it('is refused with 5.1.2 once another organization has proven the domain, until this one has again', async () => {
    const [domain, foreign] = [mine(DOMAIN), newRegistration(DOMAIN)]
    await owner.set(foreign)
    await owner.set(domain, { proven: false, status: 'FAILED' })
    await expect(send()).rejects.toMatchObject(refused('5.1.2'))
    await owner.delete(foreign)
    await owner.set(domain)
    await arrives()
  })

  it('arrives although no event has told of its domain yet, because the owner of domains is asked', async () => {
    const domain = mine(DOMAIN)
    fixture.domainsDns.registered.set(domain.domain_uid, stateOf(domain))
    await arrives()
  })

  it('is deferred, not refused, while the owner of domains does not answer what no event has told', async () => {
    fixture.domainsDns.down = true
    await expect(send()).rejects.toMatchObject({ responseCode: 451 })
    fixture.domainsDns.down = false
    await expect(send()).rejects.toMatchObject(refused('5.1.2'))
  })

  it('arrives without a question to the owner of domains while what is known says yes', async () => {
    await owner.set(mine(DOMAIN))
    fixture.domainsDns.down = true
    await arrives()
  })

  it('of another inbox here is refused in the same way', async () => {
    const { blob } = await sentCopy(fixture, inbox)
    const { organization_id, pod_id, inbox_uid, address: recipient } = inbox
    const handOver = () =>
      fixture.peer('mail-ingest.acceptInbound', {
        ...{ organization_id, pod_id, inbox_uid, recipient, blob },
        ...{ delivery_id: randomUUID(), mail_from: 'ada@sender.test' },
      })
    const domain = mine(DOMAIN)
    await owner.set(domain, { inbound_enabled: false })
    expect(await handOver()).toEqual({ outcome: 'unknown' })
    await owner.set(domain)
    const before = await stored()
    expect(await handOver()).toEqual({ outcome: 'accepted' })
    await waitFor(async () => (await stored()) === before + 1, { what: 'the mail that was handed over' })
  })

  it('that nobody has is refused with 5.1.1, and with 5.1.2 where the domain receives none', async () => {
    const nobody = `nobody@${DOMAIN}`
    await expect(send(nobody)).rejects.toMatchObject(refused('5.1.1'))
    const domain = mine(DOMAIN)
    await owner.set(domain)
    await expect(send(nobody)).rejects.toMatchObject(refused('5.1.1'))
    await owner.delete(domain)
    await expect(send(nobody)).rejects.toMatchObject(refused('5.1.2'))
  })
})

describe('mail for an address that inboxes of two organizations have', () => {
  it('reaches the one whose organization holds the domain, also before an event has told so', async () => {
    const name = 'handed-over.test'
    const former = await fixture.inboxElsewhere('desk', name)
    const holder = await fixture.inboxElsewhere('desk', name)
    const [theirs, ours] = [former, holder].map((one) => newRegistration(name, one.organization_id))
    if (!theirs || !ours) throw new Error('two registrations are needed')
    const counts = () =>
      Promise.all([former, holder].map((one) => countRows(fixture.db, 'messages where inbox_uid = $1', one.inbox_uid)))
    const reaches = async (expected: number[]) => {
      await send(`desk@${name}`)
      await waitFor(async () => (await counts()).join() === expected.join(), { what: `the mail ${expected.join()}` })
    }
    const { registered } = fixture.domainsDns
    await owner.set(theirs)
    await reaches([1, 0])
    registered.set(theirs.domain_uid, stateOf(theirs, 2, { proven: false }))
    registered.set(ours.domain_uid, stateOf(ours))
    await reaches([1, 1])
    registered.delete(ours.domain_uid)
    await expect(send(`desk@${name}`)).rejects.toMatchObject(refused('5.1.2'))
    registered.set(theirs.domain_uid, stateOf(theirs, 3))
    await reaches([2, 1])
  })
})

describe('mail for postmaster at the return path of a custom domain', () => {
  it('is accepted for the operator, whatever the status of the domain', async () => {
    await owner.set(mine(DOMAIN), { proven: false, status: 'NOT_STARTED' })
    expect(await send(`postmaster@rp.${DOMAIN}`)).toMatchObject({ accepted: [`postmaster@rp.${DOMAIN}`] })
  })

  it('is refused at other names', async () => {
    await owner.set(mine(DOMAIN))
    for (const name of [`other.${DOMAIN}`, DOMAIN, 'rp.unknown.test'])
      await expect(send(`postmaster@${name}`)).rejects.toMatchObject({ responseCode: 550 })
  })
})

describe('a return path at a custom domain', () => {
  it('takes reports at the domain that it was made for, and at no other', async () => {
    const paths = new ReturnPath({ ...fixture.config.returnPath })
    const address = paths.addressFor(randomUUID(), `rp.${DOMAIN}`)
    const report = (to: string) =>
      sendMail({ port: fixture.smtpPort, from: '', to, subject: 'Undelivered', text: randomUUID() })
    expect(await report(address)).toMatchObject({ accepted: [address] })
    await expect(report(address.replace('@rp.', '@other.'))).rejects.toMatchObject({ responseCode: 550 })
  })
})

describe('mail for dmarc@ of a registered domain', () => {
  it('is accepted without an inbox, and stored nowhere when it is no report', async () => {
    await owner.set(mine(DOMAIN))
    const before = await stored()
    await send(`DMARC@${DOMAIN}`)
    const waiting = () => countRows(fixture.db, "inbound where kind = 'dmarc'")
    await waitFor(async () => (await waiting()) === 0, { what: 'the end of the queue' })
    expect(await stored()).toBe(before)
  })

  it('reaches the inboxes that it names as well', async () => {
    await owner.set(mine(DOMAIN))
    const before = await stored()
    await send([`dmarc@${DOMAIN}`, inbox.address])
    await waitFor(async () => (await stored()) === before + 1, { what: 'the mail' })
  })

  it.each([
    ['the domain is not registered', []],
    ['only the domain above is registered', [PARENT]],
  ])('is refused with 5.1.1 where %s', async (_where, names) => {
    for (const name of names) await owner.set(mine(name), { subdomains_enabled: true })
    await expect(send(`dmarc@${DOMAIN}`)).rejects.toMatchObject(refused('5.1.1'))
  })

  it('is refused with 5.1.2 where the domain receives no mail', async () => {
    await owner.set(mine(DOMAIN), { inbound_enabled: false })
    await expect(send(`dmarc@${DOMAIN}`)).rejects.toMatchObject(refused('5.1.2'))
  })
})
