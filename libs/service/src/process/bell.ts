/** A bell: rings that come before somebody waits are not lost, and many rings wake once. */
export class Bell {
  #rung = false
  #wake: (() => void) | undefined

  readonly ring = (): void => {
    this.#rung = true
    this.#wake?.()
  }

  /** Resolves when the bell rings, has rung since the last wait, or `ms` have passed. */
  async wait(ms: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = undefined
    }
    this.#rung = false
  }
}
