import { waitFor } from '@restante/testkit'
import pg from 'pg'
import type { Endpoints } from '../../../stack/endpoints.ts'

/** The completed sign-ins in the audit log, which is where the last of their events ends. */
export class Audited {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async open({ databases }: Endpoints): Promise<Audited> {
    const client = new pg.Client({ connectionString: databases.gateway })
    await client.connect()
    return new Audited(client)
  }

  /** Completes so many sign-ins, and resolves when the log has an entry of each. */
  async complete(count: number, work: () => Promise<unknown>): Promise<void> {
    const before = await this.#count()
    await work()
    const all = async () => (await this.#count()) >= before + count
    await waitFor(all, { what: `${count} sign-ins in the audit log`, timeout: 120_000, interval: 50 })
  }

  async #count(): Promise<number> {
    const { rows } = await this.#client.query<{ count: number }>(
      "select count(*)::int as count from audit_entries where action = 'sign_in.completed'",
    )
    return rows[0]?.count ?? 0
  }

  stop(): Promise<void> {
    return this.#client.end()
  }
}
