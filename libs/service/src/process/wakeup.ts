/** A wakeup: rings that come before somebody waits are not lost, and many rings wake once. */
export class Wakeup {
  #notified = false
  #wake: (() => void) | undefined

  readonly notify = (): void => {
    this.#notified = true
    this.#wake?.()
  }

  /** Resolves when the bell rings, has rung since the last wait, or `ms` have passed. */
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
