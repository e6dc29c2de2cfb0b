import path from 'node:path'
import { findTraces } from '../deletion/traces.ts'
import { Api } from '../support/api.ts'
import { codeFor } from '../support/mail.ts'
import { useSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'

describe('a verification code', () => {
  const system = useSystem()

  it('is stored nowhere in plain text once it was mailed: in no table, Redis key or blob, in any encoding', async () => {
    const codes: string[] = []
    for (let human = 0; human < 3; human++) {
      const human_email = system.peer.address(newUsername('human'))
      const username = newUsername('agent')
      const answer = await new Api(system.endpoints.gatewayUrl).post('/v0/agent/sign-up', { username, human_email })
      expect(answer.status).toBe(200)
      codes.push(await codeFor(system.peer, human_email))
    }
    const [first = '', second = '', third = ''] = codes
    const texts = { 'text of the mail': `code is ${first}`, 'text of another': `code is ${second}` }
    const blobs = path.join(system.endpoints.logs, '../blobs')
    const traces = await findTraces(system.endpoints, blobs, { first, second, third, ...texts })
    expect(traces.filter(({ marker }) => marker in texts)).toEqual([])
    // Six digits alone are found by chance in ids and times, but hardly all three in one place.
    const byPlace = Map.groupBy(traces, ({ place }) => place)
    const holding = [...byPlace].filter(([, found]) => new Set(found.map(({ marker }) => marker)).size === 3)
    expect(holding).toEqual([])
  })
})
