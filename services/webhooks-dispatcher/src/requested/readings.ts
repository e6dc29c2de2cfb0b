import { KeyedMutex, Semaphore } from '@restante/service/concurrency'

/** Readings of this process from Kafka at once: each is a session with the brokers, and holds up to 16 MB. */
const AT_ONCE = 4

/** Bounds what is read again from Kafka: one reading at a time for each owner, so that none delays the others. */
export class Readings {
  readonly #turns = new KeyedMutex()
  readonly #slots = new Semaphore(AT_ONCE)

  /**
   * @param owner the organization, or one name for the operator.
   * @throws ApiError 503 when earlier readings of the owner take too long.
   */
  run<T>(owner: string, read: () => Promise<T>): Promise<T> {
    return this.#turns.run(owner, async () => {
      const release = await this.#slots.take()
      return read().finally(release)
    })
  }
}
