import type { Bench } from '../harness/bench.ts'
import { calendar } from './calendar.ts'
import { capacity } from './capacity.ts'
import { backlog } from './events/backlog.ts'
import { consumer } from './events/consumer.ts'
import { stream } from './events/stream.ts'
import { webhooks } from './events/webhooks.ts'
import { gateway } from './gateway.ts'
import { latency } from './latency.ts'
import { lists } from './lookups/lists.ts'
import { mailbox } from './lookups/mailbox.ts'
import { ingest } from './mail/ingest.ts'
import { pipeline } from './mail/pipeline.ts'
import { queue } from './mail/queue.ts'
import { sending } from './mail/sending.ts'
import { smtp } from './mail/smtp.ts'
import { memory } from './memory.ts'
import { metrics } from './metrics/metrics.ts'
import { signin } from './signin.ts'
import { tools } from './tools.ts'

/** Every bench, in the order in which they run. */
export const benches: readonly Bench[] = [
  memory,
  latency,
  smtp,
  ingest,
  pipeline,
  mailbox,
  gateway,
  consumer,
  queue,
  sending,
  lists,
  webhooks,
  backlog,
  stream,
  signin,
  calendar,
  metrics,
  tools,
  capacity,
]
