/** A wake-up signal: signals sent before the wait are not lost, and any number of them wakes the waiter once. */
export class Wakeup {
  #notified = false
  #wake: (() => void) | undefined

  readonly notify = (): void => {
    this.#notified = true
    this.#wake?.()
  }

  /** Resolves on a signal, at once if there was one since the last wait, or after `ms`. */
  async wait(ms: number): Promise<void> {
    if (!this.#notified) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = undefined
    }
    this.#notified = false
  }
}
