import { randomUUID } from 'node:crypto'
import type { Queryable } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import { waitFor } from '@restante/testkit'
import { StorageQuota } from '../../src/inbound/storage-quota.ts'
import { HourlyCounters } from '../../src/rates/hourly-counters.ts'
import { InboundRates } from '../../src/rates/inbound-rates.ts'
import { Admission } from '../../src/smtp/admission.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const limits = { networkMails: 100, networkBytes: 1_000, inboxMails: 4, organizationMails: 100, operatorMails: 4 }
const db: Queryable = {
  query: () => Promise.reject(new Error('storage is not limited')),
}

function admission(holdMs: number): Admission {
  const counters = new HourlyCounters({ url: undefined, prefix: 'test', log })
  const rates = new InboundRates({ counters, limits, exemptNetworks: [], exemptLoopback: false, secret: 'secret' })
  return new Admission({ rates, storage: new StorageQuota({ db, limit: undefined }), log, holdMs })
}

const inbox = () => ({
  status: 'deliver' as const,
  given: 'desk@mail.test',
  address: 'desk@mail.test',
  organization_id: randomUUID(),
  pod_id: randomUUID(),
  inbox_uid: randomUUID(),
})

describe('a client that names recipients and sends no mail', () => {
  it('holds their allowance for a limited time, and takes it again when its mail arrives', async () => {
    const rules = admission(20)
    const to = inbox()
    const [idle, other] = [rules.open('192.0.2.1'), rules.open('192.0.2.2')]
    for (const allowance of [idle, other]) await rules.mail(allowance, 0)
    expect(await rules.recipient(idle, to)).toBeNull()
    expect(await rules.recipient(other, to)).toMatchObject({ responseCode: 451 })
    await waitFor(async () => (await rules.recipient(other, to)) === null, { what: 'what the idle peer gives back' })
    // The other mail has the place now.
    expect(await rules.content(other)).toBeNull()
    expect(await rules.content(idle)).toMatchObject({ responseCode: 451 })
    rules.end(other, false, 0)
    expect(await rules.content(idle)).toBeNull()
    rules.end(idle, true, 0)
    await rules.mail(other, 0)
    expect(await rules.recipient(other, to)).toMatchObject({ responseCode: 451 })
  })

  it('holds the allowance of the operator in the same way', async () => {
    const rules = admission(20)
    const [idle, other] = [rules.open('192.0.2.1'), rules.open('192.0.2.2')]
    for (const allowance of [idle, other]) await rules.mail(allowance, 0)
    expect(await rules.operator(idle)).toBeNull()
    expect(await rules.operator(idle)).toBeNull()
    expect(await rules.operator(other)).toMatchObject({ responseCode: 451 })
    await waitFor(async () => (await rules.operator(other)) === null, { what: 'what the idle client gives back' })
    expect(await rules.content(idle)).toMatchObject({ responseCode: 451 })
    rules.end(idle, false, 0)
    rules.end(other, true, 0)
  })

  it('takes nothing for a connection that ended during the look-up', async () => {
    const rules = admission(60_000)
    const to = inbox()
    const [gone, other] = [rules.open('192.0.2.1'), rules.open('192.0.2.2')]
    for (const allowance of [gone, other]) await rules.mail(allowance, 0)
    const asked = rules.recipient(gone, to)
    rules.end(gone, false, 0)
    await asked
    expect(await rules.recipient(other, to)).toBeNull()
    rules.end(other, false, 0)
  })
})
