import { KeyedMutex } from '@restante/service/concurrency'
import { Cursors, type Handlers } from '@restante/service/http'
import { agentRoutes } from './agents/routes.ts'
import type { TakeOver } from './agents/take-over.ts'
import type { Config, GatewayKit } from './config.ts'
import { credentialRoutes } from './credentials/routes.ts'
import type { Secrets } from './credentials/secrets.ts'
import { deletionRoutes } from './deletion/routes.ts'
import { inboxRoutes } from './inboxes/routes.ts'
import { organizationRoutes } from './organizations/routes.ts'
import { podRoutes } from './pods/routes.ts'
import { publicKeyRoutes } from './sign-in/public-key-routes.ts'
import type { GatewayTimers } from './storage/timers.ts'
import type { TenancyEvents } from './tenancy/events.ts'

interface Parts {
  readonly secrets: Secrets
  readonly events: TenancyEvents
  readonly timers: GatewayTimers
}

/** Longest wait of a sign-up for others of the same human; below the time limit of a request. */
const SIGN_UP_TIMEOUT_MS = 45_000

/** The operations that the gateway itself owns. */
export function ownOperations(kit: GatewayKit, config: Config, parts: Parts): Handlers<'gateway'> {
  const { addresses, retiredAddressMs } = config
  const cursors = new Cursors(config.cursorSecret)
  const domainsDns = kit.peer('domains-dns')
  const deps = { ...parts, db: kit.db, turns: new KeyedMutex(), cursors, addresses, domainsDns }
  const credentials = { ...deps, limit: config.credentialLimit }
  return {
    ...organizationRoutes({ ...deps, domainLimit: config.domainLimit }),
    ...podRoutes({ ...deps, limit: config.podLimit }),
    ...inboxRoutes(deps),
    ...deletionRoutes({ ...deps, retiredAddressMs }),
    ...credentialRoutes(credentials),
    ...publicKeyRoutes(credentials),
    ...agentRoutes({
      ...deps,
      ...peersOfAgents(kit),
      humanTurns: new KeyedMutex({ timeoutMs: SIGN_UP_TIMEOUT_MS }),
      settings: config.signUp,
    }),
  }
}

/** What sign-up and verification ask of other services. */
function peersOfAgents(kit: GatewayKit) {
  const mailIngest = kit.peer('mail-ingest')
  const mailSend = kit.peer('mail-send')
  const dispatcher = kit.peer('webhooks-dispatcher')
  const fanout = kit.peer('websocket-fanout')
  return {
    hasReceivedMail: async (organization_id: string) =>
      (await mailIngest.call('mail-ingest.hasReceivedMail', { organization_id })).received,
    hasMailFailed: async (id: string) => (await mailSend.call('mail-send.hasSystemMailFailed', { id })).failed,
    endSubscriptions: async ({ organizationId, takeOvers }: TakeOver) => {
      const body = { organization_id: organizationId, take_overs: takeOvers }
      await Promise.all([
        dispatcher.call('webhooks-dispatcher.endWebhooks', body),
        fanout.call('websocket-fanout.endStreams', body),
      ])
    },
  }
}
