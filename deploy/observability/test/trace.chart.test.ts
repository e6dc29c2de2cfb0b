import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type ObservedSystem, startObserved } from '@restante/test-e2e/observability/observed-system.ts'
import { OtlpReceiver, type RecordedSpan } from '@restante/test-e2e/observability/otlp-receiver.ts'
import { linkedTo, STAGES, traceOfMail } from '@restante/test-e2e/observability/trace-of-mail.ts'
import { waitFor } from '@restante/testkit'

describe('the trace of a mail', () => {
  let receiver: OtlpReceiver
  let observed: ObservedSystem
  let folder: string
  let trace: readonly RecordedSpan[]

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'restante-traced-'))
    receiver = await new OtlpReceiver().start()
    observed = await startObserved(folder, receiver.environment)
    await observed.converse()
    trace = await waitFor(() => traceOfMail(receiver.spans), { what: 'the trace of a mail from SMTP to its webhook' })
  }, 600_000)
  afterAll(async () => {
    await observed?.stop()
    await receiver?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const stage = (name: string) => trace.find((span) => span.name === name)

  it('is one from the SMTP session through the pipeline to the request of the webhook', () => {
    expect(STAGES.map(([, name]) => stage(name)?.traceId)).toEqual(STAGES.map(() => trace[0]?.traceId))
    const ids = new Set(trace.map(({ spanId }) => spanId))
    expect(stage('smtp mail')?.parentSpanId).toBeUndefined()
    for (const [, name] of STAGES.slice(1)) expect(ids).toContain(stage(name)?.parentSpanId)
  })

  it('is linked from the spans of the consumers of its event, webhooks and streams', async () => {
    const consumers = await waitFor(
      () => {
        const services = new Set(linkedTo(trace, receiver.spans).map(({ service }) => service))
        return ['webhooks-dispatcher', 'websocket-fanout'].every((name) => services.has(name)) && services
      },
      { what: 'the spans of both consumers' },
    )
    expect(consumers).toContain('webhooks-dispatcher')
  })
})
