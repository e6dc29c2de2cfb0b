/** The payload of a delivery's timer: identifies the recipients of one message at one destination. */
export interface DeliveryTarget {
  readonly send_id: string
  readonly destination: string
}

/** Timers of this service. First attempts are timers that are due at once. */
export interface DeliveryTimers {
  /** Hand-over to inboxes hosted here. */
  readonly 'delivery-local': DeliveryTarget
  /** SMTP to the outside. */
  readonly 'delivery-outside': DeliveryTarget
  /** SMTP to destinations that were slow, or could not be reached, at the last attempt. */
  readonly 'delivery-slow': DeliveryTarget
}
export const DELIVERY_KINDS = ['delivery-local', 'delivery-outside', 'delivery-slow'] as const
export type DeliveryKind = (typeof DELIVERY_KINDS)[number]
