import pg from 'pg'
import { Counter, Gauge, Histogram } from 'prom-client'
import { EngineAccessError } from '../engines/index.ts'
import { isConflictError, isInfrastructureError, UpstreamError } from '../errors/infrastructure.ts'

const FAILURES = ['infrastructure', 'conflict', 'other'] as const
type Failure = (typeof FAILURES)[number]

/** The part of a pool that is reported. */
type ReportedPool = Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount' | 'options'>

const pools = new Set<ReportedPool>()

/** Includes a pool in the gauges until the returned function is called. */
export function reportPool(pool: ReportedPool): () => void {
  pools.add(pool)
  return () => pools.delete(pool)
}

function sum(of: (pool: ReportedPool) => number): number {
  return Array.from(pools, of).reduce((total, value) => total + value, 0)
}

new Gauge({
  name: 'restante_database_connections',
  help: 'Open connections of the pool by state: active, idle',
  labelNames: ['state'],
  collect() {
    this.set(
      { state: 'active' },
      sum(({ totalCount, idleCount }) => totalCount - idleCount),
    )
    this.set(
      { state: 'idle' },
      sum(({ idleCount }) => idleCount),
    )
  },
})
new Gauge({
  name: 'restante_database_connections_max',
  help: 'Most connections that the pool opens (DATABASE_POOL_SIZE)',
  collect() {
    this.set(sum(({ options }) => options.max))
  },
})
new Gauge({
  name: 'restante_database_waiting',
  help: 'Statements and transactions that wait for a connection of the pool',
  collect() {
    this.set(sum(({ waitingCount }) => waitingCount))
  },
})

export const transactionSeconds = new Histogram({
  name: 'restante_database_transaction_seconds',
  help: 'Time from the request of a connection to the end of a transaction',
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
})
const errorsTotal = new Counter({
  name: 'restante_database_errors_total',
  help: 'Failed statements and transactions by class: infrastructure (connection, timeout, resources), conflict (serialization, deadlock; retried), other (a defect)',
  labelNames: ['class'],
})
for (const failure of FAILURES) errorsTotal.inc({ class: failure }, 0)

/** Counts an error if it is PostgreSQL's. */
export function countDatabaseError(error: unknown): void {
  const failure = failureOf(error)
  if (failure !== undefined) errorsTotal.inc({ class: failure })
}

/** Undefined for errors of the work itself, and for constraints (class 23), with which the code decides races. */
function failureOf(error: unknown): Failure | undefined {
  if (error instanceof EngineAccessError) return error.engine === 'PostgreSQL' ? 'infrastructure' : undefined
  if (error instanceof UpstreamError) return undefined
  if (isConflictError(error)) return 'conflict'
  if (isInfrastructureError(error)) return 'infrastructure'
  return error instanceof pg.DatabaseError && error.code?.startsWith('23') !== true ? 'other' : undefined
}
