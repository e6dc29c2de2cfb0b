/**
 * Runs gateways for the suites of one jest worker: `gateway-host.ts <folder of the gateway>`. Loading the gateway costs
 * more than starting one, so the suites of a worker share a process in which each has a gateway of its own. Commands
 * and responses are messages; the process exits with the worker.
 */
import { flushCompileCache } from 'node:module'
import path from 'node:path'
import type { Service } from '@restante/service/process'
import { createLogger, type Logger } from '@restante/service/telemetry'
import { z } from 'zod'

const variables = z.record(z.string(), z.string())
const command = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('start'), id: z.int(), name: z.string(), environment: variables }),
  z.object({ kind: z.literal('operate'), id: z.int(), environment: variables, words: z.array(z.string()) }),
  z.object({ kind: z.literal('stop'), id: z.int(), name: z.string() }),
])
type Command = z.infer<typeof command>

/** The modules of the gateway: this package must not import services, so it loads them at run time only. */
interface Gateway<Config extends GatewayConfig> {
  readonly service: {
    readonly configure: (variables: Readonly<Record<string, string>>) => Config
    readonly create: (config: Config, log: Logger) => Promise<Service>
  }
  readonly Operator: new (config: Config & { readonly operator: string }) => Operator
  readonly DeliveryQueue: new (config: { readonly mailSend: Peer; readonly operator: string }) => Operator
  readonly WebhookLog: new (config: { readonly dispatcher: Peer; readonly operator: string }) => Operator
  readonly Domains: new (config: {
    readonly domainsDns: Peer
    readonly mailIngest: Peer
    readonly operator: string
  }) => Operator
  readonly Apps: new (config: { readonly appsSignin: Peer; readonly operator: string }) => Operator
  readonly Metrics: new (config: { readonly metrics: Peer }) => Operator
  readonly Installation: new (
    config: Config & {
      readonly peerOf: (name: PeerName) => Peer
      readonly sharedDomains: ReadonlySet<string>
      readonly operator: string
    },
  ) => Operator
  readonly execute: (console: Console, words: readonly string[]) => Promise<number>
}
interface GatewayConfig {
  readonly log: { readonly level: string }
  readonly peers: { of(name: PeerName): Peer }
  readonly addresses: { readonly sharedDomains: ReadonlySet<string> }
  readonly publicUrls: readonly string[]
}
type PeerName =
  | 'mail-ingest'
  | 'mail-send'
  | 'domains-dns'
  | 'webhooks-dispatcher'
  | 'apps-signin'
  | 'calendar'
  | 'metrics'
interface Peer {
  readonly url: string
  readonly key: string
}
interface Operator {
  close(): Promise<void>
}
/** What a command of the operator prints to. */
interface Console {
  readonly operator: () => Operator
  readonly queue: () => Operator
  readonly webhooks: () => Operator
  readonly domains: () => Operator
  readonly apps: () => Operator
  readonly metrics: () => Operator
  readonly installation: () => Operator
  readonly publicUrl: () => string
  readonly print: (line: string) => void
  readonly say: (line: string) => void
  readonly ask: (question: string) => Promise<string | undefined>
}

const [folder = ''] = process.argv.slice(2)
const load = (module: string) => import(path.join(folder, 'src', module))
const {
  service: gateway,
  Operator,
  DeliveryQueue,
  WebhookLog,
  Domains,
  Apps,
  Metrics,
  Installation,
  execute,
}: Gateway<GatewayConfig> = {
  ...(await load('main.ts')),
  ...(await load('admin/operator/operator.ts')),
  ...(await load('admin/operator/delivery-queue.ts')),
  ...(await load('admin/operator/webhook-log.ts')),
  ...(await load('admin/operator/domains.ts')),
  ...(await load('admin/operator/apps.ts')),
  ...(await load('admin/operator/metrics.ts')),
  ...(await load('admin/checks/installation.ts')),
  ...(await load('admin/program.ts')),
}
// Left to the exit, new entries of the cache delay the end of jest, whose pipes this process has.
flushCompileCache()

const gateways = new Map<string, Service>()

async function obey(given: Command): Promise<unknown> {
  if (given.kind === 'operate') return operate(given.environment, given.words)
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

/** Runs a command of the operator. @returns its exit code, what it prints and what it says. */
async function operate(given: Record<string, string>, words: readonly string[]) {
  const config = gateway.configure(given)
  const { peers } = config
  const opened: Operator[] = []
  /** Opens a store when the command first asks for it, as the program does: two of them open the database. */
  function store(open: () => Operator): () => Operator {
    let made: Operator | undefined
    return () => {
      if (made !== undefined) return made
      made = open()
      opened.push(made)
      return made
    }
  }
  const [printed, said]: [string[], string[]] = [[], []]
  const operator = 'tester'
  const console: Console = {
    operator: store(() => new Operator({ ...config, operator })),
    queue: store(() => new DeliveryQueue({ mailSend: peers.of('mail-send'), operator })),
    webhooks: store(() => new WebhookLog({ dispatcher: peers.of('webhooks-dispatcher'), operator })),
    domains: store(
      () => new Domains({ domainsDns: peers.of('domains-dns'), mailIngest: peers.of('mail-ingest'), operator }),
    ),
    apps: store(() => new Apps({ appsSignin: peers.of('apps-signin'), operator })),
    metrics: store(() => new Metrics({ metrics: peers.of('metrics') })),
    installation: store(() => {
      const { sharedDomains } = config.addresses
      return new Installation({ ...config, peerOf: (name) => peers.of(name), sharedDomains, operator })
    }),
    publicUrl: () => config.publicUrls[0] ?? '',
    print: (line) => printed.push(line),
    say: (line) => said.push(line),
    ask: async () => undefined,
  }
  try {
    const code = await execute(console, words)
    return { code, stdout: printed.join('\n'), stderr: said.join('\n') }
  } finally {
    await Promise.all(opened.map((each) => each.close()))
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
