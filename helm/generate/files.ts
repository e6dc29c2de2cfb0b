import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { type ServicesDocument, servicesDocument } from './document.ts'
import { isOneValue } from './opaque.ts'
import { readme } from './readme.ts'
import { chart, root } from './root.ts'
import { valuesSchema } from './schema.ts'
import { documentedValues } from './values.ts'

/** Every generated file of the chart, by its path in the repository. */
export async function chartFiles(): Promise<Record<string, string>> {
  const document = await servicesDocument()
  const values = documentedValues(await readFile(path.join(chart, 'values.yaml'), 'utf8'), isOneValue)
  const text = await readFile(path.join(root, 'helm/generate/readme.md'), 'utf8')
  return {
    ...(await copies('alerts', '.yaml')),
    ...(await copies('dashboards', '.json')),
    'helm/restante/values.schema.json': json(valuesSchema(values, document)),
    'helm/restante/README.md': readme(text, values, document),
    'helm/restante/files/services.json': json(document),
    'services/gateway/src/admin/secrets/services.json': json(secretsOf(document)),
  }
}

/** A chart can only read files in its own folder. */
async function copies(folder: string, suffix: string): Promise<Record<string, string>> {
  const from = path.join(root, 'deploy/observability', folder)
  const names = (await readdir(from)).filter((name) => name.endsWith(suffix)).sort()
  const files = names.map(async (name) => [
    `helm/restante/files/${folder}/${name}`,
    await readFile(path.join(from, name), 'utf8'),
  ])
  return Object.fromEntries(await Promise.all(files))
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** The part that the operator's command line needs: it is in an image that lacks the chart. */
function secretsOf({ services }: ServicesDocument) {
  return Object.fromEntries(
    Object.entries(services).map(([name, { variables }]) => [
      name,
      Object.fromEntries(
        Object.entries(variables).flatMap(([variable, { required = false, confidential }]) =>
          confidential === undefined ? [] : [[variable, { required, confidential }]],
        ),
      ),
    ]),
  )
}
