/** Repeats one GET over persistent connections; each connection waits for the response before the next request. */
import { caller } from '@restante/contracts/access'
import { SERVICES } from '@restante/contracts/vocabulary'
import { CALLER_HEADER, TokenMint } from '@restante/service/identity'
import { Pool } from 'undici'
import { z } from 'zod'
import { summarize } from '../harness/statistics.ts'
import { inputOf, reportToParent, resumed } from './parent.ts'

const { url, credentials, connections, seconds } = inputOf(
  z.object({
    url: z.url(),
    credentials: z.union([
      z.object({ bearer: z.string() }),
      z.object({ service: z.enum(SERVICES), secret: z.string(), operation: z.string(), caller }),
    ]),
    connections: z.int(),
    seconds: z.number(),
  }),
)
const { origin, pathname, search } = new URL(url)
const pool = new Pool(origin, { connections })
const headers = headersOf()

/** The headers of one request. A service believes a token of the gateway for a second without asking it again. */
function headersOf(): () => Record<string, string> {
  if ('bearer' in credentials) return () => ({ authorization: `Bearer ${credentials.bearer}` })
  const mint = new TokenMint(credentials.service, credentials.secret)
  return () => ({ [CALLER_HEADER]: mint.caller(credentials.operation, credentials.caller) })
}

async function get(): Promise<void> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: pathname + search, headers: headers() })
  // Read to its end and not kept, so that this process has little to collect while it measures.
  await body.dump({ limit: Number.MAX_SAFE_INTEGER })
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`)
}

/** @returns how long each request took, in milliseconds. */
async function load(forSeconds: number): Promise<number[]> {
  const took: number[] = []
  const until = performance.now() + forSeconds * 1000
  async function loop(): Promise<void> {
    for (let began = performance.now(); began < until; ) {
      await get()
      const now = performance.now()
      took.push(now - began)
      began = now
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  return took
}

await load(seconds / 3)
reportToParent({})
await resumed()
const began = performance.now()
const took = await load(seconds)
reportToParent({ requests: took.length, seconds: (performance.now() - began) / 1000, ...summarize(took) })
