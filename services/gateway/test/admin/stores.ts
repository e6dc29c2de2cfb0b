import { execute } from '../../src/admin/program.ts'
import { PUBLIC_URL, type TestGateway } from '../gateway.ts'

/** What commands open, of a test gateway. */
export function storesOf(gateway: TestGateway) {
  return {
    operator: () => gateway.operator,
    queue: () => gateway.queue,
    webhooks: () => gateway.webhooks,
    domains: () => gateway.domains,
    apps: () => gateway.apps,
    metrics: () => gateway.metrics,
    installation: () => gateway.installation,
    publicUrl: () => PUBLIC_URL,
  }
}

/**
 * Runs a command of the operator against a test gateway.
 * @param answer what is typed when a question is asked; undefined: there is no terminal.
 */
export async function attemptOn(gateway: TestGateway, words: readonly string[], answer?: string) {
  const [printed, said]: [string[], string[]] = [[], []]
  const code = await execute(
    {
      ...storesOf(gateway),
      print: (line) => printed.push(line),
      say: (line) => said.push(line),
      ask: async (question) => {
        said.push(question)
        return answer
      },
    },
    words,
  )
  return { code, printed: printed.join('\n'), said: said.join('\n') }
}
