import { z } from 'zod'
import { createTenant } from '../../support/tenants.ts'
import type { Bench } from '../harness/bench.ts'
import { type Contender, compete } from '../load/http-contest.ts'
import { Program } from '../programs/program.ts'

const UNREACHED_LIMITS = {
  RATE_LIMIT_EXEMPT_LOOPBACK: 'false',
  RATE_LIMIT_ORGANIZATION: '999999/s',
  RATE_LIMIT_ORGANIZATION_BURST: '999999',
  RATE_LIMIT_CREDENTIAL: '999999/s',
  RATE_LIMIT_CREDENTIAL_BURST: '999999',
}
const served = z.object({ url: z.url() })

export const gateway: Bench = {
  name: 'gateway',
  about: 'requests through the gateway and answered by it, beside the least that Express 5 needs for the same',
  async run(context) {
    async function server(name: string, program: string, path: string, input: object = {}): Promise<Contender> {
      const process = context.cleanUp(Program.start(program, input))
      const { url } = await process.next(served)
      return { name, url: url + path, pid: process.pid }
    }

    const constant = await server('constant', 'constant-server', '')
    // It stands in for a service, so that the gateway alone is what is measured. Requests are counted for the rate limits,
    // which they never reach.
    const environment = { WEBHOOKS_DISPATCHER_URL: constant.url, ...UNREACHED_LIMITS }
    const system = await context.startSystem({ environment })
    const { key, api } = await createTenant(system.place)
    const ours = (path: string): Contender => ({
      name: 'gateway',
      url: system.place.gatewayUrl + path,
      pid: system.process('gateway').pid ?? 0,
    })
    const [list, me] = ['/v0/webhooks', '/v0/auth/me']
    const { body: answer } = await api.get(me)
    return [
      ...(await compete(context, {
        name: 'forwarded GET',
        key,
        ours: ours(list),
        theirs: await server('Express, undici', 'forwarding-server', list, { upstream: constant.url }),
      })),
      ...(await compete(context, {
        name: 'own GET',
        key,
        ours: ours(me),
        theirs: await server('Express, map', 'key-server', me, { key, answer }),
      })),
    ]
  },
}
