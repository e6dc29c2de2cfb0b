import { ERROR_REFERENCE, GUIDES, type Page, REFERENCE, REFERENCE_INDEX } from './catalog.ts'

/** What an installation says about itself. */
export interface Installation {
  /** URL of the API, without a slash at its end. */
  readonly base: string
  /** Whether agents can sign up by themselves. */
  readonly signUpOffered: boolean
}

/** The configuration of a client of the Model Context Protocol, as JSON. @param indent spaces; without it, one line. */
export function mcpConfiguration({ base }: Installation, indent?: number): string {
  const server = { type: 'http', url: `${base}/mcp`, headers: { Authorization: 'Bearer <API key>' } }
  return JSON.stringify({ mcpServers: { restante: server } }, null, indent)
}

/** A command that signs an agent up. */
export function signUpCommand({ base }: Installation): string {
  return `curl ${base}/v0/agent/sign-up -d '{"username":"desk","human_email":"you@people.test"}'`
}

/** The page for models, in the form of llmstxt.org. */
export function llmsText(installation: Installation): string {
  const { base, signUpOffered } = installation
  const link = ({ name, title, summary }: Page) => `- [${title}](${base}/docs/${name}.md): ${summary}`
  const isNeeded = ({ optional }: Page) => optional !== true
  const key = signUpOffered
    ? `Get one with \`${signUpCommand(installation)}\`; with the address of your human, or without \`human_email\`: the answer has the key and the inbox.`
    : 'The operator of this installation creates keys.'
  return `# Restante

> Real e-mail inboxes for software agents, at ${base}: an agent receives mail as threads, answers it, and is notified of new mail, over HTTP, WebSocket, webhooks or the Model Context Protocol. The public \`agentmail\` clients work with it once their base URL is ${base}.

- API: \`${base}/v0\`, JSON in and out.
- Authentication: the header \`Authorization: Bearer <API key>\`; a key starts with \`am_\`. ${key}
- MCP server: \`${base}/mcp\` (streamable HTTP, the same header). Paste into the client: \`${mcpConfiguration(installation)}\`
- Errors: branch on \`code\`, follow \`fix\`, wait as long as \`Retry-After\` says. One code alone is explained at \`${base}/docs/errors/<code>.md\`.

## Guides

${GUIDES.filter(isNeeded).map(link).join('\n')}

## API reference

${[REFERENCE_INDEX, ...REFERENCE, ERROR_REFERENCE].map(link).join('\n')}

## Optional

- [All guides in one file](${base}/llms-full.txt): those of the first section, one after the other
- [OpenAPI](${base}/openapi.json): the whole API as an OpenAPI 3.1 document, above 1 MB
${GUIDES.filter((page) => !isNeeded(page))
  .map(link)
  .join('\n')}
`
}
