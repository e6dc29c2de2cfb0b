/** Every deployable service; the producing side of topics and the owning side of operations. */
export const SERVICES = [
  'gateway',
  'mail-ingest',
  'mail-send',
  'webhooks-dispatcher',
  'websocket-fanout',
  'domains-dns',
  'apps-signin',
  'calendar',
  'metrics',
  'mcp',
] as const
export type ServiceName = (typeof SERVICES)[number]

/** A service behind the gateway. */
export type UpstreamName = Exclude<ServiceName, 'gateway'>
export const UPSTREAMS = SERVICES.filter((name): name is UpstreamName => name !== 'gateway')

/** Services that store and publish nothing: they have neither a database nor topics. */
type StatelessName = 'mcp'
/** A service with a database of its own. */
export type StoringName = Exclude<ServiceName, StatelessName>
export const STORING_SERVICES = SERVICES.filter(isStoring)

/** Whether a service has a database of its own. */
export function isStoring(name: ServiceName): name is StoringName {
  return name !== 'mcp'
}

/** The name of a service as a part of a variable's name: `MAIL_SEND`. */
export function variablePart(service: ServiceName): string {
  return service.replaceAll('-', '_').toUpperCase()
}
