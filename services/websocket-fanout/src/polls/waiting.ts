import type { Caller } from '@restante/contracts/access'
import { Wakeup } from '@restante/service/concurrency'
import type { ApiError } from '@restante/service/errors'
import type { StreamEvent } from '../subscriptions/subscriptions.ts'

export interface WaitingOptions {
  /** As admitted. */
  readonly caller: Caller
  readonly requestId: string
  /** Names the client and how far it has read: one poll of a key waits with a cursor at a time. */
  readonly key: string
  readonly matches: (event: StreamEvent) => boolean
}

/** A poll that waits for events. */
export class WaitingPoll {
  readonly caller: Caller
  readonly requestId: string
  readonly key: string
  readonly matches: (event: StreamEvent) => boolean
  readonly #wakeup = new Wakeup()
  #failure: ApiError | undefined
  #isOver = false

  constructor({ caller, requestId, key, matches }: WaitingOptions) {
    this.caller = caller
    this.requestId = requestId
    this.key = key
    this.matches = matches
  }

  /** Events may have come. */
  wake(): void {
    this.#wakeup.notify()
  }

  /** It is to be answered at once with what there is. */
  finish(): void {
    this.#isOver = true
    this.#wakeup.notify()
  }

  /** It is to be answered with an error. */
  end(failure: ApiError): void {
    this.#failure ??= failure
    this.#wakeup.notify()
  }

  /** Whether it is to be answered with what there is. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Waits until events may have come, or it is over, or `ms` have passed. @throws ApiError as `check` */
  async wait(ms: number): Promise<void> {
    if (!this.#isOver && ms > 0) await this.#wakeup.wait(ms)
    this.check()
  }

  /** @throws ApiError the error that it was ended with. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}
