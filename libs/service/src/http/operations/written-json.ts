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
