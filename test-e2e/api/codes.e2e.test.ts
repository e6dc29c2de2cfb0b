import path from 'node:path'
import { findTraces } from '../deletion/traces.ts'
import { Api } from '../support/api.ts'
import { codeFor } from '../support/mail.ts'
import { useSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'

/** Six digits alone are found by chance in ids and times, but hardly those of all these humans in one place. */
const HUMANS = 6

describe('a verification code', () => {
  const system = useSystem()

  it('is stored nowhere in plain text once it was mailed: in no table, Redis key or blob, in any encoding', async () => {
    const codes: Record<string, string> = {}
    for (let human = 0; human < HUMANS; human++) {
      const human_email = system.peer.address(newUsername('human'))
      const username = newUsername('agent')
      const answer = await new Api(system.endpoints.gatewayUrl).post('/v0/agent/sign-up', { username, human_email })
      expect(answer.status).toBe(200)
      codes[`code ${human}`] = await codeFor(system.peer, human_email)
    }
    const texts = Object.fromEntries(Object.values(codes).map((code) => [`text with ${code}`, `code is ${code}`]))
    const blobs = path.join(system.endpoints.logs, '../blobs')
    const traces = await findTraces(system.endpoints, blobs, { ...codes, ...texts })
    expect(traces.filter(({ marker }) => marker in texts)).toEqual([])
    const byPlace = Map.groupBy(traces, ({ place }) => place)
    const holding = [...byPlace].filter(([, found]) => new Set(found.map(({ marker }) => marker)).size === HUMANS)
    expect(holding).toEqual([])
  })
})
