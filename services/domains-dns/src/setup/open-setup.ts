import { readFile } from 'node:fs/promises'
import type { Schedule } from '@restante/jobs'
import type { ConfigOf, KitOf } from '@restante/kit'
import type { CheckTimers } from '../checks/timers.ts'
import type { configuration } from '../config.ts'
import type { Resolvers } from '../dns/resolvers.ts'
import type { Signer } from './apply/apply-url.ts'
import { SetupKey } from './apply/key.ts'
import { Discovery } from './discovery/discovery.ts'
import { returnRoutes, setupRoutes } from './routes.ts'
import { SetupSweeper } from './sweeper.ts'

type Config = ConfigOf<typeof configuration>

interface Parts {
  readonly dns: Resolvers
  readonly timers: Schedule<CheckTimers>
}

/** Path of the page at the gateway that browsers come back to. */
const RETURN_PATH = '/domain-setup/return'

/** Opens one-click setup, and returns the handlers of its operations. */
export async function openSetup(kit: KitOf<typeof configuration>, config: Config, { dns, timers }: Parts) {
  const { db, log } = kit
  const { setup, installation, mailboxProviders: providers } = config
  const { template, acceptedProviders: accepted, port, caFile } = setup
  const fetcher = kit.fetcher({
    name: 'DNS providers',
    allow: { loopback: config.outbound.allow.loopback },
    dnsServers: config.dnsServers,
    ...(caFile !== undefined && { ca: await readFile(caFile, 'utf8') }),
  })
  kit.use(new SetupSweeper({ db, log }))
  const signer = await signerOf(setup)
  const own = template !== undefined && signer !== undefined ? { template, signer } : undefined
  const discovery = new Discovery({ dns, fetcher, port, template: own?.template, accepted, log })
  const returnUrl = `${config.publicUrl}${RETURN_PATH}`
  return {
    handlers: setupRoutes({ db, dns, discovery, providers, installation, own, returnUrl }),
    internal: returnRoutes({ db, timers, installation }),
  }
}

async function signerOf({ key, keyLabel: label }: Config['setup']): Promise<Signer | undefined> {
  if (key === undefined) return undefined
  return { key: new SetupKey('pem' in key ? key.pem : await readFile(key.file, 'utf8')), label }
}
