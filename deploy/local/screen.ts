import { defaultDomain } from './environment.ts'
import { readOrganization } from './organization.ts'
import type { Settings } from './settings.ts'

/** The text shown when everything is ready: the addresses, what differs from production, what to try first. */
export async function startScreen(settings: Settings): Promise<string> {
  const organization = await readOrganization(settings)
  const gateway = `http://127.0.0.1:${settings.port('gateway')}`
  const key = organization?.api_key ?? '<API key>'
  return `
Restante is ready. Give it to a language model, here Claude Code (others: docs/guide-mcp.md):

  claude mcp add --transport http restante ${gateway}/mcp --header "Authorization: Bearer ${key}"

  MCP           ${gateway}/mcp   (a key for one inbox: npm run admin -- keys create-for-model <address>)
  Start page    ${gateway}   (for models ${gateway}/llms.txt)
  API           ${gateway}/v0   (documentation ${gateway}/docs, OpenAPI ${gateway}/openapi.json)
  Events        ws://127.0.0.1:${settings.port('gateway')}/v0   (WebSocket)
  Mail in       SMTP 127.0.0.1:${settings.port('smtp')}
  Captured mail http://127.0.0.1:${settings.port('captured-web')}   (everything that leaves for an address elsewhere)
  Engines       PostgreSQL 127.0.0.1:${settings.port('postgres')}, Redis 127.0.0.1:${settings.port('redis')}, Kafka 127.0.0.1:${settings.port('kafka')}
  API key       ${organization?.api_key ?? '`npm run admin -- keys create <organization>` creates one'}
  Logs          ${settings.logs}

Switched on here and nowhere else:
  - mail that arrives from loopback is trusted to come from whom it says (SENDER_AUTH=trust-loopback)
  - outgoing mail is captured instead of delivered (SMARTHOST)
  - requests and mail from loopback are exempt from the rate limits (RATE_LIMIT_EXEMPT_LOOPBACK)
  - webhook and attachment URLs may be http and point to loopback

Try first:
  npm run demo
      a demonstration: sign-up, mail in, event, reply, thread
  curl -X POST ${gateway}/v0/inboxes -H 'Authorization: Bearer ${key}' \\
      -H 'Content-Type: application/json' -d '{"username":"first"}'
  swaks --server 127.0.0.1:${settings.port('smtp')} --to first@${defaultDomain} --from you@somewhere.test --body Hello
  kcat -b 127.0.0.1:${settings.port('kafka')} -t mail.messages -C -o beginning -f '%h\\n%s\\n'

Ctrl-C or \`npm stop\` ends it, data is kept; \`npm run reset\` deletes the data.
`
}
