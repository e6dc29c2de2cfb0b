/** Every deployable service; the producing side of topics and the owning side of operations. */
export const SERVICES = ['gateway', 'mail-ingest', 'mail-send', 'webhooks-dispatcher', 'websocket-fanout'] as const
export type ServiceName = (typeof SERVICES)[number]

/** A service behind the gateway. */
export type UpstreamName = Exclude<ServiceName, 'gateway'>
export const UPSTREAMS = SERVICES.filter((name): name is UpstreamName => name !== 'gateway')

/** The name of a service as a part of a variable's name: `MAIL_SEND`. */
export function variablePart(service: PeerName): string {
  return service.replaceAll('-', '_').toUpperCase()
}

/**
 * Services to come that topics and internal operations name already: the joint is defined, and those who consume and
 * call exist.
 */
export const PLANNED_SERVICES = ['domains-dns'] as const
/** What publishes to a topic, and what can be called inside an installation. */
export type PeerName = ServiceName | (typeof PLANNED_SERVICES)[number]
