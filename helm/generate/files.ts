import { type ServicesDocument, servicesDocument } from './document.ts'

/** Every generated file of the chart, by its path in the repository. */
export async function chartFiles(): Promise<Record<string, string>> {
  const document = await servicesDocument()
  return {
    'helm/restante/files/services.json': json(document),
    'services/gateway/src/admin/secrets/services.json': json(secretsOf(document)),
  }
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
