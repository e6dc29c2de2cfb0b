import { z } from 'zod'
import { createTenant } from '../../support/tenants.ts'
import type { Bench } from '../harness/bench.ts'
import { compareServers, type HttpServer } from '../load/http/comparison.ts'
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
  about: 'requests forwarded and answered by the gateway, compared with minimal Express 5 servers',
  async run(context) {
    async function server(name: string, program: string, path: string, input: object = {}): Promise<HttpServer> {
      const process = context.cleanUp(Program.start(program, input))
      const { url } = await process.next(served)
      return { name, url: url + path, pid: process.pid }
    }

    const constant = await server('constant', 'constant-server', '')
    // The constant server replaces a service, so that only the gateway is measured. Rate limits are counted and never
    // reached.
    const environment = { WEBHOOKS_DISPATCHER_URL: constant.url, ...UNREACHED_LIMITS }
    const system = await context.startSystem({ environment })
    const { key, api } = await createTenant(system.endpoints)
    const ours = (path: string): HttpServer => ({
      name: 'gateway',
      url: system.endpoints.gatewayUrl + path,
      pid: system.process('gateway').pid ?? 0,
    })
    const [list, me] = ['/v0/webhooks', '/v0/auth/me']
    const { body: answer } = await api.get(me)
    return [
      ...(await compareServers(context, {
        name: 'forwarded GET',
        key,
        ours: ours(list),
        theirs: await server('Express, undici', 'forwarding-server', list, { upstream: constant.url }),
      })),
      ...(await compareServers(context, {
        name: 'own GET',
        key,
        ours: ours(me),
        theirs: await server('Express, map', 'key-server', me, { key, answer }),
      })),
    ]
  },
}
