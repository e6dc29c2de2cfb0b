import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { STORING_SERVICES, type StoringName } from '@restante/contracts/vocabulary'
import { Redis } from 'ioredis'
import pg from 'pg'
import type { Endpoints } from '../stack/endpoints.ts'

/** Words that occur only in the data to be deleted, by their meaning. */
export type Markers = Readonly<Record<string, string>>

/** A word that was found, with its location. */
export interface Trace {
  /** `<service>.<table>`, `redis` or `blobs`. */
  readonly place: string
  readonly marker: string
  /** The row, key or name that contains it. */
  readonly what: string
}

/** Searches every column of every table of every service, every key of Redis and every blob for markers. */
export async function findTraces(endpoints: Endpoints, blobs: string, markers: Markers): Promise<Trace[]> {
  const found = await Promise.all([
    ...STORING_SERVICES.map((service) => inDatabase(endpoints, service, markers)),
    inRedis(endpoints, markers),
    inBlobs(blobs, markers),
  ])
  return found.flat()
}

const TABLES = `select table_name as name from information_schema.tables
 where table_schema = 'public' and table_type = 'BASE TABLE' order by table_name`

async function inDatabase(endpoints: Endpoints, service: StoringName, markers: Markers): Promise<Trace[]> {
  const client = new pg.Client({ connectionString: endpoints.databases[service] })
  await client.connect()
  try {
    const patterns = Object.values(markers).flatMap((marker) => [marker, ...hex(marker)].map((text) => `%${text}%`))
    const tables = await client.query<{ name: string }>(TABLES)
    const traces: Trace[] = []
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ row: string }>(
        `select to_jsonb(held)::text as row from "${name}" as held where lower(to_jsonb(held)::text) like any($1::text[])`,
        [patterns],
      )
      for (const { row } of rows) traces.push(...tracesIn(`${service}.${name}`, row, row, markers))
    }
    return traces
  } finally {
    await client.end()
  }
}

async function inRedis(endpoints: Endpoints, markers: Markers): Promise<Trace[]> {
  const client = new Redis(endpoints.operator['REDIS_URL'] ?? '')
  try {
    const traces: Trace[] = []
    for await (const keys of client.scanStream({ match: `${endpoints.operator['REDIS_PREFIX']}*`, count: 1_000 })) {
      for (const key of Array.isArray(keys) ? keys.map(String) : [])
        traces.push(...tracesIn('redis', await described(client, key), key + (await contentOf(client, key)), markers))
    }
    return traces
  } finally {
    client.disconnect()
  }
}

async function described(client: Redis, key: string): Promise<string> {
  return (await client.pttl(key)) > 0 ? `${key} (expires)` : key
}

async function contentOf(client: Redis, key: string): Promise<string> {
  const type = await client.type(key)
  switch (type) {
    case 'string':
      return (await client.get(key)) ?? ''
    case 'hash':
      return JSON.stringify(await client.hgetall(key))
    case 'list':
      return JSON.stringify(await client.lrange(key, 0, -1))
    case 'set':
      return JSON.stringify(await client.smembers(key))
    case 'zset':
      return JSON.stringify(await client.zrange(key, '0', '-1'))
    case 'stream':
      return JSON.stringify(await client.xrange(key, '-', '+'))
    case 'none':
      return ''
    default:
      throw new Error(`a value of the type ${type} cannot be searched`)
  }
}

async function inBlobs(folder: string, markers: Markers): Promise<Trace[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  const traces = await Promise.all(
    files.map(async (file) => {
      const name = path.relative(folder, file)
      // A key that was deleted in the meantime contains nothing.
      const bytes = await readFile(file, 'latin1').catch(() => '')
      return tracesIn('blobs', name, name + bytes, markers)
    }),
  )
  return traces.flat()
}

function tracesIn(place: string, what: string, content: string, markers: Markers): Trace[] {
  const folded = content.toLowerCase()
  return Object.entries(markers).flatMap(([marker, word]) => {
    const here =
      folded.includes(word) ||
      hex(word).some((it) => folded.includes(it)) ||
      base64(word).some((it) => content.includes(it))
    return here ? [{ place, marker, what }] : []
  })
}

/** The forms of a word within bytes that are spelled in hexadecimal, where it may be encoded in base64, too. */
function hex(word: string): string[] {
  return [word, ...base64(word)].map((form) => Buffer.from(form).toString('hex'))
}

/** The forms of a word within base64, for each of the three offsets at which it can begin. */
function base64(word: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from(' '.repeat(before) + word).toString('base64')
    return encoded.slice(Math.ceil((before * 4) / 3), Math.floor(((before + word.length) * 4) / 3) - 1)
  })
}
