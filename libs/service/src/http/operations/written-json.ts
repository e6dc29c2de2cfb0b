/**
 * A document that its handler has written as JSON: one of thousands of small members costs more to collect as garbage, and to
 * serialize, than to write.
 */
export class WrittenJson<Document> {
  readonly bytes: Buffer
  /** Exists for the compiler alone: what the bytes are. */
  declare readonly document: Document

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

/**
 * A document that its handler writes as JSON, part by part, because as a whole it may take too much memory. The next part is
 * asked for when the client has read the ones before. A failure before the first part is answered like any other; a later one
 * breaks the answer off.
 */
export class StreamedJson<Document> {
  readonly parts: AsyncIterable<string>
  /** Exists for the compiler alone: what the parts are together. */
  declare readonly document: Document

  constructor(parts: AsyncIterable<string>) {
    this.parts = parts
  }
}
