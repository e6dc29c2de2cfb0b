import { createServer, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

/** One span as a collector gets it. Times are milliseconds since the epoch. */
export interface RecordedSpan {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly beginMs: number
  readonly endMs: number
  /** Spans of other traces that caused this one. */
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
}

const attribute = z.looseObject({ key: z.string(), value: z.looseObject({ stringValue: z.string().optional() }) })
const span = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  links: z.array(z.looseObject({ traceId: z.string(), spanId: z.string() })).default([]),
})
const request = z.looseObject({
  resourceSpans: z.array(
    z.looseObject({
      resource: z.looseObject({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.looseObject({ spans: z.array(span) })),
    }),
  ),
})

/** An OpenTelemetry collector that keeps every span, as its protocol is spoken over HTTP with JSON. */
export class OtlpReceiver {
  readonly spans: RecordedSpan[] = []
  readonly #server: Server

  constructor() {
    this.#server = createServer(async (incoming, response) => {
      this.spans.push(...spansIn(await text(incoming)))
      response.setHeader('content-type', 'application/json')
      response.end('{}')
    })
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  /** The standard variables that make a service send its spans here, soon after they end. */
  get environment(): Readonly<Record<string, string>> {
    const address = this.#server.address()
    if (typeof address !== 'object' || address === null) throw new Error('The receiver is not listening')
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${address.port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function spansIn(body: string): RecordedSpan[] {
  const { resourceSpans } = request.parse(JSON.parse(body))
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const named = resource.attributes.find(({ key }) => key === 'service.name')
    const service = named?.value.stringValue ?? ''
    return scopeSpans.flatMap(({ spans }) => spans.map((each) => recorded(service, each)))
  })
}

function recorded(service: string, each: z.infer<typeof span>): RecordedSpan {
  const { traceId, spanId, name, links, parentSpanId } = each
  return {
    service,
    traceId,
    spanId,
    parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
    name,
    beginMs: milliseconds(each.startTimeUnixNano),
    endMs: milliseconds(each.endTimeUnixNano),
    links,
  }
}

/** Nanoseconds do not fit into a number; microseconds do. */
function milliseconds(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1_000n) / 1_000
}
