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
}
export type DeliveryKind = keyof DeliveryTimers

/** The payload of the timer of a notice about a failed delivery. */
export interface NoticeTarget {
  readonly delivery_id: string
}

/** All timers of this service. */
export interface SendTimers extends DeliveryTimers {
  readonly 'bounce-notice': NoticeTarget
}
