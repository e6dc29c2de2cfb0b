/** What is limited; also the label of the metric. */
export type RateName =
  | 'network_mails'
  | 'network_bytes'
  | 'inbox_from_network'
  | 'inbox'
  | 'organization_from_network'
  | 'organization'
  | 'operator_from_network'
  | 'operator'

/** Something that is counted per hour. */
export interface Counter {
  readonly name: RateName
  /** Counters that are counted together have the same group: in a Redis cluster they are on one node. */
  readonly group: string
  /** Unique within its group. */
  readonly key: string
  readonly limit: number
}

/** An amount of one counter: mails, or bytes. */
export interface Take {
  readonly counter: Counter
  readonly amount: number
}
