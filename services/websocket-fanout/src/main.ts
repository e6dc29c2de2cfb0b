import { defineService, runService } from '@restante/kit'
import { configuration } from './config.ts'
import { Hub } from './connections/hub.ts'
import { KeyWatch } from './connections/key-watch.ts'
import { StreamQuota } from './connections/quota.ts'
import { streamUpgrade } from './connections/upgrade.ts'
import { keepLog } from './log/keep-log.ts'
import { streamRoutes } from './log/routes.ts'
import { scopeResolver } from './subscriptions/resolve.ts'

/** Live event streams: topics into a log of a day, the log to every instance, each instance to its sockets. */
export const service = defineService({
  configuration,
  assemble(kit, config) {
    const { db, log } = kit
    const { callerKey, docsUrl } = config
    const gateway = kit.peer('gateway')
    const quota = kit.use(new StreamQuota({ ...config.redis, log }))
    const hub = kit.use(new Hub({ log, drainMs: config.streamDrainMs }))
    const keys = kit.use(new KeyWatch({ hub, gateway, log }))
    const notify = keepLog(kit, hub.deliver)
    kit.serve({
      callerKey,
      handlers: {},
      internal: streamRoutes({ db, notify }),
      upgrade: streamUpgrade({ callerKey, docsUrl, hub, quota, keys, resolve: scopeResolver(gateway), log }),
    })
  },
})

if (import.meta.main) await runService(service)
