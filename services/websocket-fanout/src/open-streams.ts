import type { ConfigOf } from '@restante/kit'
import type { configuration, FanoutKit } from './config.ts'
import { KeyWatch } from './connections/admission/key-watch.ts'
import { StreamQuota } from './connections/admission/quota.ts'
import { Answers } from './connections/answers.ts'
import { Hub } from './connections/hub.ts'
import { Links } from './connections/links.ts'
import { streamUpgrade } from './connections/upgrade.ts'
import { StreamCursors } from './cursors/stream-cursors.ts'
import { keepLog } from './log/keep-log.ts'
import { streamRoutes } from './log/routes.ts'
import type { LogEntry } from './log/store.ts'
import { TakeOvers } from './log/take-overs.ts'
import { Polls } from './polls/polls.ts'
import { pollRoutes } from './polls/routes.ts'
import { LogReader } from './replay/reader.ts'
import { scopeResolver } from './subscriptions/resolve.ts'

/** Composes the service: the log, the streams and polls that follow it, and the operations. */
export function openStreams(kit: FanoutKit, config: ConfigOf<typeof configuration>): void {
  const { db, log } = kit
  const { callerKey, docsUrl } = config
  const gateway = kit.peer('gateway')
  const cursors = new StreamCursors(config.cursorSecret)
  const takeOvers = new TakeOvers()
  const quota = kit.use(new StreamQuota({ ...config.redis, log }))
  // Stops after the streams: while they are closed one by one, a poll that is answered at once would be repeated at once.
  const polls = kit.use(new Polls())
  const hub = kit.use(new Hub({ log, drainMs: config.streamDrainMs, cursors }))
  // Stops before the hub closes streams, so that their clients are led to other instances.
  const links = kit.use(new Links({ peerKeys: config.peers.keys, log }))
  const keys = kit.use(new KeyWatch({ holders: [hub, polls], gateway, log }))
  const deliver = (entry: LogEntry): void => {
    hub.deliver(entry)
    polls.deliver(entry)
  }
  const { notify, position } = keepLog(kit, { deliver, takeOvers })
  const reader = new LogReader(db)
  const resolve = scopeResolver(gateway)
  const answers = new Answers({ docsUrl, resolve, onSubscribed: hub.index, reader, cursors, position })
  kit.serve({
    callerKey,
    handlers: pollRoutes({ reader, cursors, polls, quota, takeOvers, position, streamCount: (id) => hub.count(id) }),
    internal: streamRoutes({ db, notify }),
    link: links.accept,
    upgrade: streamUpgrade({ callerKey, hub, quota, keys, answers, takeOvers, log }),
  })
}
