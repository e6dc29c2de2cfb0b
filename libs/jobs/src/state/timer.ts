/** A timer as an attempt sees it. */
export interface Timer<Payload = unknown> {
  readonly id: string
  readonly kind: string
  readonly key: string
  readonly dueAt: Date
  /** 1 for the first attempt since the timer was scheduled. */
  readonly attempt: number
  readonly payload: Payload
  /** As it was scheduled. */
  readonly share: number
}

/** What `schedule` takes: one of the service's kinds with the payload of that kind. */
export type ScheduledTimer<Kinds extends object> = {
  [Kind in keyof Kinds & string]: {
    readonly kind: Kind
    /** One live timer per kind and key: scheduling again replaces it. */
    readonly key: string
    /** Default: at once, by the database's clock. */
    readonly dueAt?: Date | undefined
    /** JSON, and small: ids of rows, not their content. */
    readonly payload: Kinds[Kind]
    /** Whose turn it takes, of the `shares` of its kind (0, 1, ...); default 0. */
    readonly share?: number
    /** Whether, among attempts that begin with their commit, others come first; default false. */
    readonly hasTime?: boolean
  }
}[keyof Kinds & string]
