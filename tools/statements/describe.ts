import pg from 'pg'
import { z } from 'zod'
import type { Described, DescribedColumn } from './types.ts'

/** Has PostgreSQL describe statements without executing them. */
export class Describer {
  readonly #client: pg.Client
  #sources = new Map<string, { readonly name: string; readonly nullable: boolean }>()

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async open(url: string): Promise<Describer> {
    const client = new pg.Client({ connectionString: url, application_name: 'restante-tools' })
    await client.connect()
    const describer = new Describer(client)
    const { rows } = await client.query<{ key: string; name: string; nullable: boolean }>(
      `select attrelid || '.' || attnum as key, attname as name, not attnotnull as nullable
         from pg_attribute where attnum > 0 and not attisdropped`,
    )
    describer.#sources = new Map(rows.map(({ key, ...source }) => [key, source]))
    return describer
  }

  /** @throws Error of PostgreSQL when the statement is wrong. */
  async describe(text: string): Promise<Described> {
    const { parameters, fields } = await new Description(text).of(this.#client)
    return { parameters, columns: fields.map((field) => this.#column(field)) }
  }

  #column({ name, dataTypeID, tableID, columnID }: pg.FieldDef): DescribedColumn {
    return { name, type: dataTypeID, source: this.#sources.get(`${tableID}.${columnID}`) }
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}

const parameterDescription = z.object({ dataTypeIDs: z.array(z.number()) })

/** The Parse and Describe messages of the protocol for one statement: `pg` itself always executes what it describes. */
class Description implements pg.Submittable {
  readonly #text: string
  readonly #answer = Promise.withResolvers<{ parameters: readonly number[]; fields: readonly pg.FieldDef[] }>()
  #parameters: readonly number[] = []
  #fields: readonly pg.FieldDef[] = []

  constructor(text: string) {
    this.#text = text
  }

  of(client: pg.Client): Promise<{ parameters: readonly number[]; fields: readonly pg.FieldDef[] }> {
    client.query(this)
    return this.#answer.promise
  }

  submit(connection: pg.Connection): void {
    connection.once('parameterDescription', (message: unknown) => {
      this.#parameters = parameterDescription.parse(message).dataTypeIDs
    })
    connection.parse({ name: '', text: this.#text, types: [] }, true)
    connection.describe({ type: 'S', name: '' }, true)
    connection.sync()
  }

  handleRowDescription({ fields }: { fields: readonly pg.FieldDef[] }): void {
    this.#fields = fields
  }

  handleError(error: Error, connection: pg.Connection): void {
    connection.removeAllListeners('parameterDescription')
    this.#answer.reject(error)
  }

  handleReadyForQuery(): void {
    this.#answer.resolve({ parameters: this.#parameters, fields: this.#fields })
  }
}
