import type { Health } from '@restante/service/http'

/** The answer of a check is repeated for this long, in milliseconds: the page is served without a key. */
const KEPT_MS = 1_000

/** Whether everything that this process reports on works, without any names. */
export class HealthCheck {
  readonly #health: Health
  #latest: { readonly since: number; readonly isHealthy: Promise<boolean> } | undefined

  constructor(health: Health) {
    this.#health = health
  }

  isHealthy(): Promise<boolean> {
    const now = performance.now()
    if (this.#latest === undefined || now - this.#latest.since > KEPT_MS) {
      this.#latest = { since: now, isHealthy: this.#check() }
    }
    return this.#latest.isHealthy
  }

  async #check(): Promise<boolean> {
    const reports = await Promise.all([this.#health.problems(), this.#health.degradations()])
    return reports.every((report) => Object.keys(report).length === 0)
  }
}
