/** Repeats one GET over persistent connections; each connection waits for the response before the next request. */
import { Pool } from 'undici'
import { z } from 'zod'
import { summarize } from '../harness/statistics.ts'
import { inputOf, reportToParent, resumed } from './parent.ts'

const { url, key, connections, seconds } = inputOf(
  z.object({ url: z.url(), key: z.string(), connections: z.int(), seconds: z.number() }),
)
const { origin, pathname } = new URL(url)
const pool = new Pool(origin, { connections })
const headers = { authorization: `Bearer ${key}` }

async function get(): Promise<void> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: pathname, headers })
  await body.dump()
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
