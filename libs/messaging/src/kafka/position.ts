/** Where Kafka keeps one record. */
export interface RecordPosition {
  /** Name of its topic, without the installation's prefix. */
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/** A position as one word, for a column or a page token: `mail.messages/3/1042`. */
export function formatPosition({ topic, partition, offset }: RecordPosition): string {
  return `${topic}/${partition}/${offset}`
}

/** @returns undefined when the text is not the word of a position. */
export function parsePosition(text: string): RecordPosition | undefined {
  const [, topic, partition, offset] = /^([\w.-]+)\/(\d{1,9})\/(\d{1,15})$/.exec(text) ?? []
  if (topic === undefined) return undefined
  return { topic, partition: Number(partition), offset: Number(offset) }
}
