/** Every deployable service; the producing side of topics and the owning side of operations. */
export const SERVICES = ['gateway', 'mail-ingest', 'mail-send', 'webhooks-dispatcher', 'websocket-fanout'] as const
export type ServiceName = (typeof SERVICES)[number]
