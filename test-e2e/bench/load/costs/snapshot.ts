import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { type ServiceName, STORING_SERVICES } from '@restante/contracts/vocabulary'
import { readSettings } from '@restante/local/settings.ts'
import { engines } from '@restante/testkit'
import pg from 'pg'
import type { System } from '../../../stack/system.ts'
import { usageOfAll } from '../processes.ts'

/** What everything has used so far, by name. Names with the same beginning are of one kind: `CPU of gateway`. */
export type Snapshot = ReadonlyMap<string, { readonly value: number; readonly unit: 'ms' | 'KB' | 'rows' }>

/** Clock ticks of /proc. */
const TICK_MS = 10

/** Reads what a system has used so far. Its engines serve nothing else during a bench. */
export async function snapshot(system: System): Promise<Snapshot> {
  const used = new Map<string, { value: number; unit: 'ms' | 'KB' | 'rows' }>()
  const usage = await usageOfAll(system)
  for (const [name, { cpuMs }] of usage) used.set(`CPU of ${name}`, { value: cpuMs, unit: 'ms' })
  const postgres = await onDatabase(engines.databaseUrl, async (client) => {
    const { rows } = await client.query<{ pid: number; wal: string }>(
      "select pg_backend_pid() as pid, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal",
    )
    return { cpuMs: await cpuOfPostgres(rows[0]?.pid ?? 0), wal: Number(rows[0]?.wal ?? 0) }
  })
  used.set('CPU of PostgreSQL', { value: postgres.cpuMs, unit: 'ms' })
  used.set('WAL of PostgreSQL', { value: postgres.wal / 1_024, unit: 'KB' })
  for (const service of STORING_SERVICES) await addDatabase(used, service, system.endpoints.databases[service])
  const logs = path.join(readSettings(process.env).state, 'kafka/data')
  for (const [topic, bytes] of await topicBytes(logs, system.endpoints.topicPrefix))
    used.set(`Kafka ${topic}`, { value: bytes / 1_024, unit: 'KB' })
  used.set('object store', { value: (await bytesBelow(system.blobs)) / 1_024, unit: 'KB' })
  return used
}

async function addDatabase(
  used: Map<string, { value: number; unit: 'ms' | 'KB' | 'rows' }>,
  service: ServiceName,
  url: string,
): Promise<void> {
  await onDatabase(url, async (client) => {
    const size = await client.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes')
    used.set(`database of ${service}`, { value: Number(size.rows[0]?.bytes ?? 0) / 1_024, unit: 'KB' })
    const tables = await client.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public' order by tablename",
    )
    for (const { name } of tables.rows) {
      const counted = await client.query<{ rows: string }>(`select count(*) as rows from "${name}"`)
      used.set(`rows of ${service}.${name}`, { value: Number(counted.rows[0]?.rows ?? 0), unit: 'rows' })
    }
  })
}

async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Of the postmaster, of its children, and of those that have ended. @param backend one that still runs. */
async function cpuOfPostgres(backend: number): Promise<number> {
  const [, postmaster = 0] = await timesOf(backend)
  const [own] = await timesOf(postmaster)
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const children = await Promise.all(
    pids.map(async (pid) => {
      const [ticks, parent] = await timesOf(pid).catch(() => [0, 0] as const)
      return parent === postmaster ? ticks : 0
    }),
  )
  return (own + children.reduce((sum, ticks) => sum + ticks, 0)) * TICK_MS
}

/** CPU time with that of children that have ended, in ticks, and the parent. */
async function timesOf(pid: number): Promise<readonly [ticks: number, parent: number]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15)
  return [user + system + endedUser + endedSystem, fields[1] ?? 0]
}

async function topicBytes(logs: string, prefix: string): Promise<Map<string, number>> {
  const bytes = new Map<string, number>()
  for (const folder of await readdir(logs)) {
    const [, topic] = /^(.+)-\d+$/.exec(folder) ?? []
    if (!topic?.startsWith(prefix)) continue
    const files = (await readdir(path.join(logs, folder))).filter((file) => file.endsWith('.log'))
    const sizes = await Promise.all(files.map(async (file) => (await stat(path.join(logs, folder, file))).size))
    const name = topic.slice(prefix.length)
    bytes.set(
      name,
      sizes.reduce((sum, size) => sum + size, bytes.get(name) ?? 0),
    )
  }
  return bytes
}

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(
    files.map(({ parentPath, name }) =>
      stat(path.join(parentPath, name))
        .then(({ size }) => size)
        .catch(() => 0),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
