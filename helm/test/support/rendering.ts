import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments, stringify } from 'yaml'
import { z } from 'zod'
import { chart, root } from '../../generate/root.ts'

export { chart, root }

const run = promisify(execFile)
const LARGE = { maxBuffer: 64 * 1024 * 1024 }

const text = z.record(z.string(), z.string())

/** An object of Kubernetes, as far as tests read it. */
export const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    labels: text.default({}),
    annotations: text.default({}),
  }),
})
export type Manifest = z.output<typeof manifest>

/** The example files of values, by name. */
export async function examples(): Promise<string[]> {
  const files = await readdir(path.join(chart, 'examples'))
  return files.map((file) => file.replace(/\.yaml$/, '')).sort()
}

export interface Rendering {
  /** Name of an example; default: the minimal one. */
  readonly example?: string
  /** Values that go before those of the example. */
  readonly values?: object
  readonly release?: string
}

/** Renders the chart, as `helm template` prints it. @throws what Helm says when it refuses the values. */
export async function renderText({ example = 'minimal', values, release = 'restante' }: Rendering = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'restante-values-'))
  try {
    const own = path.join(folder, 'values.yaml')
    await writeFile(own, stringify(values ?? {}))
    const files = [path.join(chart, 'examples', `${example}.yaml`), own].flatMap((file) => ['--values', file])
    const { stdout } = await run('helm', ['template', release, chart, '--namespace', 'mail', ...files], LARGE)
    return stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The objects that the chart makes. */
export async function render(rendering: Rendering = {}): Promise<Manifest[]> {
  return parseManifests(await renderText(rendering))
}

export function parseManifests(yaml: string): Manifest[] {
  return parseAllDocuments(yaml)
    .map((document): unknown => document.toJS())
    .filter((document) => document !== null)
    .map((document) => manifest.parse(document))
}

/** What Helm says when it refuses the values. */
export async function refusal(rendering: Rendering): Promise<string> {
  try {
    await renderText(rendering)
  } catch (error) {
    if (error instanceof Error && 'stderr' in error) return String(error.stderr)
    throw error
  }
  throw new Error('the values were not refused')
}

/** Objects of one kind by name. */
export function ofKind(manifests: readonly Manifest[], kind: string): Map<string, Manifest> {
  const found = manifests.filter((object) => object.kind === kind)
  return new Map(found.map((object) => [object.metadata.name, object]))
}

/** One object. @throws Error when it was not made. */
export function one(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = ofKind(manifests, kind).get(name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found
}
