import type { ServiceName } from '@restante/contracts'

/** Something for each service. */
export type ByService<T> = Record<ServiceName, T>

export function byService<T>(make: (name: ServiceName) => T): ByService<T> {
  return {
    gateway: make('gateway'),
    'mail-ingest': make('mail-ingest'),
    'mail-send': make('mail-send'),
    'webhooks-dispatcher': make('webhooks-dispatcher'),
    'websocket-fanout': make('websocket-fanout'),
  }
}
