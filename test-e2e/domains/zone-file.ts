import type { DnsZone, ZoneRecord } from '@restante/testkit'

const LINE = /^(\S+)\.\s+(?:\d+\s+)?IN\s+(A|MX|TXT|CNAME)\s+(.+)$/

/** Publishes the lines of a zone file, as an owner who imports it does. */
export function publishZoneFile(zone: DnsZone, text: string): void {
  const records = text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, name = '', type, data = ''] = LINE.exec(line) ?? []
      if (type === undefined) throw new Error(`not a record: ${line}`)
      return { name, record: recordOf(type, data) }
    })
  for (const [name, found] of Map.groupBy(records, (one) => one.name))
    zone.set(name, ...found.map(({ record }) => record))
}

function recordOf(type: string, data: string): ZoneRecord {
  if (type === 'TXT')
    return {
      type,
      data: [...data.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, piece = '']) => piece.replaceAll(/\\(.)/g, '$1')),
    }
  if (type === 'A') return { type, address: data }
  if (type === 'CNAME') return { type, domain: hostOf(data) }
  const [priority = '', exchange = ''] = data.split(/\s+/)
  return { type: 'MX', priority: Number(priority), exchange: hostOf(exchange) }
}

function hostOf(data: string): string {
  return data.replace(/\.$/, '')
}
