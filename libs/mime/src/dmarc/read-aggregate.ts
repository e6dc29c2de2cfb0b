import { isIP } from 'node:net'
import { localName, readXml } from '../documents/package/xml.ts'
import type { DmarcLimits, DmarcReport, DmarcRow } from './aggregate-report.ts'
import { unpack } from './unpack.ts'

/** Levels of elements: the format has five. */
const DEPTH = 16
/** Characters of a value; those of the format are shorter. */
const LONGEST = 255
const SECONDS = /^\d{1,11}$/
const COUNT = /^\d{1,9}$/
const DISPOSITIONS: ReadonlySet<string> = new Set(['none', 'pass', 'quarantine', 'reject'])
const NAME = /^[a-z0-9._-]{1,253}$/
/** Visible characters: an id is shown and compared, and never interpreted. */
const ID = /^[\x21-\x7e]{1,255}$/

/** The values of a report, by the path of their elements, and its rows. */
interface Values {
  readonly single: Map<string, string>
  readonly rows: Map<string, DmarcRow>
}

/**
 * Reads an aggregate report for a thread, which is sent its limits.
 * @returns undefined when it is none, is damaged or exceeds a limit.
 */
export async function readAggregate(bytes: Buffer, limits: DmarcLimits): Promise<DmarcReport | undefined> {
  const xml = await unpack(bytes, limits)
  const values = xml && (await readValues(xml, limits))
  if (values === undefined) return undefined
  const id = values.single.get('feedback/report_metadata/report_id') ?? ''
  const begin = values.single.get('feedback/report_metadata/date_range/begin') ?? ''
  const domain = (values.single.get('feedback/policy_published/domain') ?? '').toLowerCase().replace(/\.$/, '')
  if (!ID.test(id) || !SECONDS.test(begin) || !NAME.test(domain)) return undefined
  return { id, domain, begin: Number(begin) * 1_000, rows: [...values.rows.values()] }
}

async function readValues(xml: Buffer, limits: DmarcLimits): Promise<Values | undefined> {
  const values: Values = { single: new Map(), rows: new Map() }
  const path: string[] = []
  let row = new Map<string, string>()
  let text = ''
  let isBroken = false
  const visitor = {
    open(name: string) {
      path.push(localName(name))
      text = ''
      if (path.join('/') === 'feedback/record') row = new Map()
    },
    text(value: string) {
      if (text.length <= LONGEST) text += value
    },
    close() {
      const place = path.join('/')
      path.pop()
      const value = text.trim()
      text = ''
      if (place === 'feedback/record') isBroken ||= !addRow(values.rows, row, limits.rows)
      else if (place.startsWith('feedback/record/')) row.set(place, value)
      else if (value !== '') values.single.set(place, value)
      isBroken ||= value.length > LONGEST
    },
    cutOff() {
      isBroken = true
    },
    get isDone() {
      return isBroken
    },
  }
  try {
    await readXml(whole(xml), visitor, DEPTH)
  } catch {
    return undefined
  }
  return isBroken || path.length > 0 ? undefined : values
}

async function* whole(xml: Buffer): AsyncGenerator<Buffer, void> {
  yield xml
}

/** @returns false when it is no row, or one too many. */
function addRow(rows: Map<string, DmarcRow>, row: ReadonlyMap<string, string>, most: number): boolean {
  const of = (name: string) => row.get(`feedback/record/row/${name}`) ?? ''
  const [sourceIp, count] = [of('source_ip').toLowerCase(), of('count')]
  const disposition = of('policy_evaluated/disposition').toLowerCase()
  if (isIP(sourceIp) === 0 || !COUNT.test(count) || !DISPOSITIONS.has(disposition)) return false
  const [dkim, spf] = [passOrFail(of('policy_evaluated/dkim')), passOrFail(of('policy_evaluated/spf'))]
  const key = `${sourceIp} ${disposition} ${dkim} ${spf}`
  const messages = Number(count) + (rows.get(key)?.messages ?? 0)
  rows.set(key, { sourceIp, disposition, dkim, spf, messages })
  return rows.size <= most
}

function passOrFail(text: string): string {
  return text.toLowerCase() === 'pass' ? 'pass' : 'fail'
}
