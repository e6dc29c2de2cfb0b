import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'

/** Where PostgreSQL of the local engines writes its log, in its data folder. */
const LOG = 'server.log'
const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_parameter_max_length': '0',
}
const ENTRY = /^(?=\d{4}-\d\d-\d\d )/m
const OF_REQUESTS = /Query Text: (?:with|select)\b.*\bfrom (?:searchable|threads|messages)\b/is

/** Keeps the plans of the statements that a service runs for requests, as PostgreSQL logs them (auto_explain). */
export class Plans {
  readonly #client: pg.Client
  readonly #database: string
  readonly #folder: string

  private constructor(client: pg.Client, database: string, folder: string) {
    this.#client = client
    this.#database = database
    this.#folder = folder
  }

  /**
   * Has PostgreSQL log the plans of a database until `stop`.
   * @param url of a superuser.
   * @param folder one text file for each request is written there.
   * @throws Error when PostgreSQL is not that of the local engines.
   */
  static async start(url: string, folder: string): Promise<Plans> {
    await mkdir(folder, { recursive: true })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const plans = new Plans(client, new URL(url).pathname.slice(1), folder)
    await plans.#logEnd()
    for (const [name, value] of Object.entries(SETTINGS)) {
      await client.query(`alter database ${plans.#database} set ${name} = '${value}'`)
    }
    await plans.#reconnect()
    return plans
  }

  /** Writes the plans of one request to the file of this name. */
  async keep(name: string, request: () => Promise<unknown>): Promise<void> {
    const start = await this.#logEnd()
    await request()
    const { rows } = await this.#client.query<{ text: string }>(`select pg_read_file('${LOG}', $1, $2) as text`, [
      start,
      (await this.#logEnd()) - start,
    ])
    const entries = (rows[0]?.text ?? '').split(ENTRY).filter((entry) => OF_REQUESTS.test(entry))
    await writeFile(path.join(this.#folder, `${name.replaceAll(/\W+/g, '-')}.txt`), entries.join('\n'))
  }

  async stop(): Promise<void> {
    for (const name of Object.keys(SETTINGS)) await this.#client.query(`alter database ${this.#database} reset ${name}`)
    await this.#reconnect()
    await this.#client.end()
  }

  /** A connection takes its settings from the database when it begins. */
  async #reconnect(): Promise<void> {
    await this.#client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
  }

  async #logEnd(): Promise<number> {
    const { rows } = await this.#client.query<{ size: string }>(`select size from pg_stat_file('${LOG}')`)
    return Number(rows[0]?.size)
  }
}
