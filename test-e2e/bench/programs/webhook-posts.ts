/** Posts a document again and again over persistent connections: what a delivery costs at the least. */
import { Pool } from 'undici'
import { z } from 'zod'
import { inputOf, reportToParent, startClock } from './parent.ts'

const { url, body, connections, requests } = inputOf(
  z.object({ url: z.url(), body: z.string(), connections: z.int(), requests: z.int() }),
)
const { origin, pathname } = new URL(url)
const pool = new Pool(origin, { connections })
const headers = { 'content-type': 'application/json' }

async function post(count: number): Promise<void> {
  let next = 0
  async function loop(): Promise<void> {
    while (next++ < count) {
      const response = await pool.request({ method: 'POST', path: pathname, headers, body })
      await response.body.dump()
      if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
}

await post(requests / 4)
const clock = startClock()
await post(requests)
reportToParent(clock())
await pool.close()
