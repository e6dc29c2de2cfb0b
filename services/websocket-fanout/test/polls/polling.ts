import { waitFor } from '@restante/testkit'
import type { Tenant, TestFanout } from '../fanout.ts'

export type PollBody = Record<string, unknown> & { events: Record<string, unknown>[]; cursor: string }

export interface Answer {
  readonly status: number
  readonly body: PollBody
  readonly ms: number
  readonly headers: Headers
}

export interface PollTarget {
  readonly secret: string
  /** The scope in the path: '', `/pods/<id>`, `/inboxes/<id>`. */
  readonly prefix?: string
  /** Of the gateway, where it is not that of the fan-out. */
  readonly url?: string
}

/** One poll through the gateway. */
export async function poll(
  fanout: TestFanout,
  { secret, prefix = '', url = fanout.gateway.url }: PollTarget,
  query: Record<string, string> = {},
): Promise<Answer> {
  const begun = performance.now()
  const response = await fetch(`${url}/v0${prefix}/stream/poll?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${secret}` },
  })
  const body: PollBody = JSON.parse(await response.text())
  return { status: response.status, body, ms: performance.now() - begun, headers: response.headers }
}

/** Waits until a gauge of this process has a value. */
export async function gaugeIs(name: string, expected: number, what: string): Promise<void> {
  const { register } = await import('prom-client')
  await waitFor(async () => (await register.getSingleMetric(name)?.get())?.values[0]?.value === expected, { what })
}

/** Waits until this process has so many polls that wait. */
export const waiting = (count: number) => gaugeIs('restante_stream_polls', count, `${count} waiting polls`)

export const idsOf = (events: readonly Record<string, unknown>[]) => events.map((event) => event['event_id'])

/** Writes events to the log, one after another, and waits until polls of this instance find all of them. */
export async function deliver(
  fanout: TestFanout,
  tenant: Tenant,
  ...events: Parameters<TestFanout['log']>
): Promise<void> {
  const target = { secret: tenant.key }
  let { cursor } = (await poll(fanout, target)).body
  for (const event of events) await fanout.log(event)
  const last = events.at(-1)?.id
  for (let found = false; !found; ) {
    const { body } = await poll(fanout, target, { cursor })
    cursor = body.cursor
    found = idsOf(body.events).includes(last)
  }
}
