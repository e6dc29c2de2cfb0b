/** The payload of a delivery's timer: identifies the recipients of one message at one destination. */
export interface DeliveryTarget {
  readonly send_id: string
  readonly destination: string
}

/** Timers of this service. First attempts are timers that are due at once. */
export interface SendTimers {
  /** Hand-over to inboxes hosted here. */
  readonly 'delivery-local': DeliveryTarget
  /** SMTP to the outside. */
  readonly 'delivery-outside': DeliveryTarget
  /** A scheduled draft is due; its key is the id of the draft. */
  readonly 'draft-send': { readonly draft_id: string }
}
export type DeliveryKind = 'delivery-local' | 'delivery-outside'
