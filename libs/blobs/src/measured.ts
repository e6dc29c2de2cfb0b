import { Readable } from 'node:stream'
import { Counter, Histogram } from 'prom-client'
import { BlobNotFoundError, InvalidBlobNameError } from './errors.ts'
import type { BlobPage, BlobRange, BlobStore, PutOptions, StoredBlob } from './store.ts'

const OPERATIONS = ['put', 'put_stream', 'get', 'buffer', 'copy', 'delete', 'delete_prefix', 'size', 'list'] as const
type Operation = (typeof OPERATIONS)[number]

const seconds = new Histogram({
  name: 'restante_blob_seconds',
  help: 'Duration of operations of the object store; `get` ends with the first bytes, `put_stream` includes the wait for the content',
  labelNames: ['operation'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
})
const errorsTotal = new Counter({
  name: 'restante_blob_errors_total',
  help: 'Operations of the object store that failed because of the disk or the bucket',
  labelNames: ['operation'],
})
for (const operation of OPERATIONS) errorsTotal.inc({ operation }, 0)

/** A store whose operations are measured. */
export class MeasuredBlobStore implements BlobStore {
  readonly #store: BlobStore

  constructor(store: BlobStore) {
    this.#store = store
  }

  get name(): string {
    return this.#store.name
  }

  async put(name: string, content: Readable | Uint8Array, options?: PutOptions): Promise<StoredBlob> {
    if (!(content instanceof Readable)) return this.#measured('put', () => this.#store.put(name, content, options))
    // An error of the content is the sender's: the store rethrows it unchanged.
    let broken: unknown
    content.once('error', (error) => {
      broken = error
    })
    return this.#measured(
      'put_stream',
      () => this.#store.put(name, content, options),
      (error) => error === broken,
    )
  }

  get(name: string, range?: BlobRange): Promise<Readable> {
    return this.#measured('get', () => this.#store.get(name, range))
  }

  buffer(name: string): Promise<Buffer> {
    return this.#measured('buffer', () => this.#store.buffer(name))
  }

  copy(from: string, to: string): Promise<void> {
    return this.#measured('copy', () => this.#store.copy(from, to))
  }

  delete(name: string): Promise<void> {
    return this.#measured('delete', () => this.#store.delete(name))
  }

  deletePrefix(prefix: string): Promise<void> {
    return this.#measured('delete_prefix', () => this.#store.deletePrefix(prefix))
  }

  size(name: string): Promise<number | undefined> {
    return this.#measured('size', () => this.#store.size(name))
  }

  list(prefix: string, after: string | undefined, limit: number): Promise<BlobPage> {
    return this.#measured('list', () => this.#store.list(prefix, after, limit))
  }

  async exists(name: string): Promise<boolean> {
    return (await this.size(name)) !== undefined
  }

  start(): Promise<void> {
    return this.#store.start()
  }

  ready(): Promise<void> {
    return this.#store.ready()
  }

  stop(): Promise<void> {
    return this.#store.stop()
  }

  async #measured<T>(
    operation: Operation,
    work: () => Promise<T>,
    isForeign: (error: unknown) => boolean = () => false,
  ): Promise<T> {
    const finished = seconds.startTimer({ operation })
    try {
      return await work()
    } catch (error) {
      const isAnswer = error instanceof BlobNotFoundError || error instanceof InvalidBlobNameError
      if (!isAnswer && !isForeign(error)) errorsTotal.inc({ operation })
      throw error
    } finally {
      finished()
    }
  }
}
