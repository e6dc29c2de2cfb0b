import type { DnsZone } from '@restante/testkit'
import { type ExpectedRecord, expectedRecords } from '../../src/records/expected.ts'
import { type DomainRow, publishedKeyOf } from '../../src/registrations/store.ts'
import { type Fixture, MX_HOST } from './fixture.ts'

/** Names of the installation of the fixture. */
export const INSTALLATION = {
  mxHost: MX_HOST,
  returnHost: MX_HOST,
  spfInclude: 'spf.restante.test',
  selector: 'svc1',
  returnPathLabel: 'mail',
  trackingHost: 'track.restante.test',
}

/** The records that a registration needs. */
export async function recordsOf({ db }: Pick<Fixture, 'db'>, row: DomainRow): Promise<readonly ExpectedRecord[]> {
  return expectedRecords(row, await publishedKeyOf(db, row.uid), INSTALLATION)
}

/** Publishes the records of a registration, except those of some kinds. */
export async function publish(
  fixture: Pick<Fixture, 'db' | 'zone'>,
  row: DomainRow,
  ...except: readonly ExpectedRecord['kind'][]
): Promise<void> {
  const records = (await recordsOf(fixture, row)).filter(({ kind }) => !except.includes(kind))
  for (const [name, here] of Map.groupBy(records, (record) => record.name))
    fixture.zone.set(name, ...here.map(zoneRecord))
}

/** Makes a name of an earlier test unknown to DNS. */
export function unpublish(zone: DnsZone, records: readonly ExpectedRecord[]): void {
  for (const { name } of records) zone.remove(name)
}

function zoneRecord({ type, value, priority = 0 }: ExpectedRecord) {
  if (type === 'MX') return { type, exchange: value, priority } as const
  return type === 'TXT' ? ({ type, data: value } as const) : ({ type, domain: value } as const)
}
