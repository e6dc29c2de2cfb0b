import type { Caller } from '@restante/contracts/access'
import type { OperationId } from '@restante/contracts/operations'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { z } from 'zod'
import type { BenchContext } from '../../harness/bench.ts'
import { Program } from '../../programs/program.ts'
import { usageOf } from '../processes.ts'

/** What the gateway tells a service of a client, in place of its key. */
interface Forwarded {
  readonly service: ServiceName
  readonly secret: string
  readonly operation: OperationId
  readonly caller: Caller
}

/** A GET that is repeated, and the process that answers it. */
export interface Repeated {
  readonly url: string
  readonly credentials: { readonly bearer: string } | Forwarded
  /** Of the server. */
  readonly pid: number
  /** Requests at once. */
  readonly connections: number
  /** How long it is measured; a third of it as warm-up before. A tenth of both in a quick bench. */
  readonly seconds: number
}

/** What was measured: latency in milliseconds, and CPU time of the server in microseconds. */
export interface Round {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly cpuPerRequest: number
}

const result = z.object({ requests: z.number(), seconds: z.number(), p50: z.number(), p99: z.number() })

/** Repeats a GET from a small process of its own, whose garbage collection takes no time from the responses. */
export async function measureRound(context: BenchContext, { pid, ...repeated }: Repeated): Promise<Round> {
  const seconds = context.quick ? repeated.seconds / 10 : repeated.seconds
  const load = Program.start('http-load', { ...repeated, seconds })
  try {
    await load.next(z.object({}))
    const before = await usageOf(pid)
    load.resume()
    const { requests, seconds: took, p50, p99 } = await load.next(result)
    const after = await usageOf(pid)
    return { perSecond: requests / took, p50, p99, cpuPerRequest: ((after.cpuMs - before.cpuMs) * 1000) / requests }
  } finally {
    await load.stop()
  }
}
