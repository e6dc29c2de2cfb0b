import { readFile } from 'node:fs/promises'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'

/**
 * The SQL that would bring a database to a schema.prisma; empty when they agree. Computed by Prisma's own schema engine
 * in its WebAssembly form: the command line would download a native one.
 * @param external tables that the schema does not describe: those of libraries.
 */
export async function sqlFromDatabaseToSchema(
  url: string,
  schemaFile: string,
  external: readonly string[],
): Promise<string> {
  const schema = { path: schemaFile, content: await readFile(schemaFile, 'utf8') }
  const pool = new pg.Pool({ connectionString: url, max: 2, application_name: 'restante-tools' })
  pool.on('connect', relabelCatalogueTypes)
  try {
    const engine = await openEngine(schema, pool)
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [schema], configDir: '.' },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: null,
      filters: { externalTables: [...external], externalEnums: [] },
    })
    return meaningful(stdout ?? '')
  } finally {
    await pool.end()
  }
}

async function openEngine(schema: { path: string; content: string }, pool: pg.Pool): Promise<bindings.SchemaEngine> {
  await loaded()
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool))
  return bindings.SchemaEngine.new({ datamodels: [[schema.path, schema.content]] }, () => undefined, adapter)
}

let loading: Promise<void> | undefined

/** Importing a .wasm file as a module needs a flag, so it is instantiated here, once. */
function loaded(): Promise<void> {
  loading ??= load()
  return loading
}

async function load(): Promise<void> {
  // Where the engine writes its panic message; without it the reason would be lost.
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: { set_message: (text: string) => process.stderr.write(`${text}\n`) },
  })
  const wasm = new URL(import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(await readFile(wasm), { './schema_engine_bg.js': { ...bindings } })
  bindings.__wbg_set_wasm(instance.exports)
  const start = instance.exports['__wbindgen_start']
  if (typeof start === 'function') start()
}

const text = 25
const textArray = 1009

/**
 * Types of PostgreSQL's catalogue that the adapter cannot read, and their readable equivalents: "char", char[], name[].
 */
const readAs = new Map([
  [18, text],
  [1002, textArray],
  [1003, textArray],
])

function relabelCatalogueTypes(client: pg.PoolClient): void {
  if (!('connection' in client) || !(client.connection instanceof pg.Connection)) return
  client.connection.prependListener('rowDescription', ({ fields }: { fields: { dataTypeID: number }[] }) => {
    for (const field of fields) field.dataTypeID = readAs.get(field.dataTypeID) ?? field.dataTypeID
  })
}

/** The engine answers with a comment when there is nothing to do. */
function meaningful(sql: string): string {
  const statements = sql.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('--'))
  return statements.length === 0 ? '' : sql.trim()
}
