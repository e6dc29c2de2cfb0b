import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { Database, migrate, sql, type Tx } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import { PATIENCE_MS } from '@restante/service/testing'
import { Redis } from 'ioredis'
import { Timers, type TimersOptions } from '../src/index.ts'

const DATABASE_URL = process.env['DATABASE_URL'] ?? 'postgres://restante@127.0.0.1:54329/postgres'
export const REDIS_URL = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:63799'

/** Every kind of timer in these tests, and its payload. */
export interface Kinds {
  note: { text: string }
  other: { text: string }
}

export type TestTimers = Timers<Kinds>

const insertEffect = sql<{ id: string }, [key: string, text: string]>(
  'insert into effects (key, text) values ($1, $2) returning id',
)
const selectEffects = sql<{ key: string; text: string }>('select key, text from effects order by id')
const selectTimers = sql<{ key: string; attempt: number; lease: string | null; payload: { text: string } }>(
  'select key, attempt, lease_id as lease, payload from timers order by due_at, key',
)

/** The effect that handlers in these tests have: a row, so that applying it twice is visible. */
export function effect(tx: Tx, key: string, text = ''): Promise<{ id: string }[]> {
  return tx.query(insertEffect, key, text)
}

export function openDatabase(url: string): Database {
  return new Database({ url, applicationName: 'jobs-test' })
}

/** A database of its own with the library's table, and the timers of any number of processes. */
export class Stack {
  readonly prefix = `test-jobs-${randomUUID().slice(0, 8)}`
  readonly #name = `test_jobs_${randomUUID().slice(0, 8)}`
  readonly url = DATABASE_URL.replace(/\/[^/]*$/, `/${this.#name}`)
  readonly #admin = openDatabase(DATABASE_URL)
  readonly db = openDatabase(this.url)
  readonly redis = new Redis(REDIS_URL, { lazyConnect: true })
  #running: TestTimers[] = []

  async start(): Promise<void> {
    await this.#admin.query(sql(`create database ${this.#name}`))
    await migrate({ url: this.url, folder: path.resolve(import.meta.dirname, '..') })
    await this.db.query(sql('create table effects (id serial primary key, key text, text text)'))
  }

  /** The timers of one more process; the caller registers work and starts them. */
  timers(options: Partial<TimersOptions> = {}, db: Database = this.db): TestTimers {
    const timers = new Timers<Kinds>({
      db,
      redis: { url: REDIS_URL, prefix: this.prefix },
      log: createLogger({ service: 'jobs-test', level: 'silent' }),
      pollMs: 20,
      drainMs: 2_000,
      ...options,
    })
    this.#running.push(timers)
    return timers
  }

  effects(): Promise<{ key: string; text: string }[]> {
    return this.db.query(selectEffects)
  }

  rows(): Promise<{ key: string; attempt: number; lease: string | null; payload: { text: string } }[]> {
    return this.db.query(selectTimers)
  }

  /** The job that the next free worker takes. */
  firstWaiting(kind: keyof Kinds): Promise<string | null> {
    return this.redis.lindex(`${this.prefix}:${kind}:wait`, -1)
  }

  /** The effect of a flushed Redis on these queues, without affecting other users of it. */
  async deleteKeys(): Promise<number> {
    const keys = await this.redis.keys(`${this.prefix}:*`)
    return keys.length > 0 ? this.redis.del(...keys) : 0
  }

  /** Ends every process of the last test, and deletes what it left. */
  async clear(): Promise<void> {
    await Promise.all(this.#running.map((timers) => timers.stop()))
    this.#running = []
    await this.deleteKeys()
    await this.db.query(sql('truncate timers, effects'))
  }

  async stop(): Promise<void> {
    await this.clear()
    await this.redis.quit()
    await this.db.stop()
    await this.#admin.query(sql(`drop database ${this.#name} with (force)`))
    await this.#admin.stop()
  }
}

/** Schedules in a transaction of its own. */
export function at(db: Database, timers: TestTimers, key: string, dueAt?: Date, text = key): Promise<void> {
  return db.transaction((tx) => timers.schedule(tx, { kind: 'note', key, dueAt, payload: { text } }))
}

/** Resolves when `condition` returns something truthy; checks again every few milliseconds. */
export async function until<T>(condition: () => Promise<T> | T, limitMs = PATIENCE_MS): Promise<T> {
  const end = Date.now() + limitMs
  for (;;) {
    const value = await condition()
    if (value) return value
    if (Date.now() > end) throw new Error(`Waited ${limitMs} ms for ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** An event that happens once, awaited elsewhere. */
export function signal(): { happened: Promise<void>; happen: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { happened: promise, happen: resolve }
}

export const ago = (ms: number): Date => new Date(Date.now() - ms)
export const ahead = (ms: number): Date => new Date(Date.now() + ms)
export const never = (): null => null
