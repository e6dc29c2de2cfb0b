/**
 * Runs gateways for the suites of one jest worker: `gateway-host.ts <folder of the gateway>`. Loading the gateway costs
 * more than starting one, so the suites of a worker share a process in which each has a gateway of its own. Commands
 * and responses are messages; the process exits with the worker.
 */
import path from 'node:path'
import type { Service } from '@restante/service/process'
import { createLogger, type Logger } from '@restante/service/telemetry'
import { z } from 'zod'

const variables = z.record(z.string(), z.string())
const command = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('start'), id: z.int(), name: z.string(), environment: variables }),
  z.object({ kind: z.literal('organization'), id: z.int(), environment: variables }),
  z.object({ kind: z.literal('stop'), id: z.int(), name: z.string() }),
])
type Command = z.infer<typeof command>

/** The modules of the gateway: this package must not import services, so it loads them at run time only. */
interface Gateway<Config extends { readonly log: { readonly level: string } }> {
  readonly service: {
    readonly configure: (variables: Readonly<Record<string, string>>) => Config
    readonly create: (config: Config, log: Logger) => Promise<Service>
  }
  readonly Operator: new (config: Config & { readonly operator: string }) => Operator
}
interface Operator {
  createOrganization(): Promise<{ readonly organization: { id: string }; readonly key: { secret: string } }>
  close(): Promise<void>
}

const [folder = ''] = process.argv.slice(2)
const load = (module: string) => import(path.join(folder, 'src', module))
const { service: gateway, Operator }: Gateway<{ readonly log: { readonly level: string } }> = {
  ...(await load('main.ts')),
  ...(await load('admin/operator/operator.ts')),
}

const gateways = new Map<string, Service>()

async function obey(given: Command): Promise<unknown> {
  if (given.kind === 'organization') return newOrganization(given.environment)
  const { name } = given
  if (given.kind === 'start') {
    const config = gateway.configure(given.environment)
    const service = await gateway.create(config, createLogger({ service: 'gateway', level: config.log.level }))
    gateways.set(name, service)
    return service.start()
  }
  const service = gateways.get(name)
  gateways.delete(name)
  return service?.stop()
}

/** Creates an organization with an unrestricted key, as the operator's command line does. */
async function newOrganization(given: Record<string, string>): Promise<{ id: string; key: string }> {
  const config = gateway.configure(given)
  const operator = new Operator({ ...config, operator: 'tester' })
  try {
    const { organization, key } = await operator.createOrganization()
    return { id: organization.id, key: key.secret }
  } finally {
    await operator.close()
  }
}

process.on('message', (message) => {
  const given = command.parse(message)
  const { id } = given
  obey(given).then(
    (value) => process.send?.({ id, value: value ?? null }),
    (error: unknown) => process.send?.({ id, failure: error instanceof Error ? (error.stack ?? '') : String(error) }),
  )
})
process.once('disconnect', () => process.exit())
