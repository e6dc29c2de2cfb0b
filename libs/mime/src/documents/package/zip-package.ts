import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { type DocumentLimits, UnreadableDocumentError } from '../text/limits.ts'

/**
 * The members of a zip archive, each inflated only while it is read. What an archive declares bounds what is inflated: a
 * member that holds more than it declares is damaged.
 */
export class ZipPackage {
  readonly #zip: ZipFile
  readonly #members: ReadonlyMap<string, Entry>
  /** Bytes that may still be inflated. */
  #left: number

  private constructor(zip: ZipFile, members: ReadonlyMap<string, Entry>, inflatedBytes: number) {
    this.#zip = zip
    this.#members = members
    this.#left = inflatedBytes
  }

  /** @throws UnreadableDocumentError when it has too many members; any error when it is damaged */
  static async open(bytes: Buffer, limits: DocumentLimits): Promise<ZipPackage> {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true, autoClose: false, validateEntrySizes: true })
    if (zip.entryCount > limits.members) throw new UnreadableDocumentError('too_large')
    const members = new Map<string, Entry>()
    for await (const entry of zip.eachEntry()) {
      const name = keyOf(entry.fileName)
      if (!members.has(name)) members.set(name, entry)
    }
    return new ZipPackage(zip, members, limits.inflatedBytes)
  }

  /** The names of its members, in lower case. */
  get names(): readonly string[] {
    return [...this.#members.keys()]
  }

  has(name: string): boolean {
    return this.#members.has(keyOf(name))
  }

  /**
   * The content of a member, in pieces; nothing for one that does not exist.
   * @throws UnreadableDocumentError when it is encrypted, or larger than what may still be inflated
   */
  async *read(name: string): AsyncGenerator<Buffer, void> {
    const entry = this.#members.get(keyOf(name))
    if (entry === undefined) return
    if (entry.isEncrypted()) throw new UnreadableDocumentError('encrypted')
    if (entry.uncompressedSize > this.#left) throw new UnreadableDocumentError('too_large')
    this.#left -= entry.uncompressedSize
    let unread = entry.uncompressedSize
    try {
      for await (const piece of await this.#zip.openReadStreamPromise(entry)) {
        unread -= piece.length
        yield piece
      }
    } finally {
      this.#left += unread
    }
  }
}

/** Names of parts are compared without regard to case (ECMA-376 part 2, 6.2.2). */
function keyOf(name: string): string {
  return name.toLowerCase()
}
