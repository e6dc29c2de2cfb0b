import { z } from 'zod'
import { createTenant } from '../../support/tenants.ts'
import type { Bench } from '../harness/bench.ts'
import { type Contender, compete } from '../load/http-contest.ts'
import { Program } from '../programs/program.ts'

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
    // It stands in for a service, so that the gateway alone is what is measured.
    const system = await context.startSystem({ environment: { WEBHOOKS_DISPATCHER_URL: constant.url } })
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
