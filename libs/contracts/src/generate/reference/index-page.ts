import { PREFIX } from '../../definition/operation.ts'
import { OPERATION_GROUPS } from '../../operations/groups.ts'
import { TIERS } from '../../vocabulary/tiers.ts'
import { NOTICE, page, table } from '../parts/markdown.ts'

/** What all operations have in common, and the list of groups. */
export function indexPage(): string {
  return page([
    '# API reference',
    NOTICE,
    'The API is at `http://127.0.0.1:3000`. Requests and answers are JSON (`Content-Type: application/json`); times are RFC 3339 in UTC.',
    '- **Authentication**: `Authorization: Bearer <API key>`; a key starts with `am_`. Operations that need none say so. [Sign up](agent.md) to get a key.\n' +
      `- **Scope**: one operation can be offered below several prefixes: ${TIERS.map((tier) => `\`${PREFIX[tier]}\` (${tier})`).join(', ')}. A key acts within its own scope on each of them.\n` +
      '- **Pages**: an answer with `next_page_token` has more to come; pass the token as `page_token` and keep the other parameters.\n' +
      '- **Errors**: branch on `code`; `fix` says what to do next, and `docs` leads to the entry of the code in [errors](../errors.md). Wait as long as `Retry-After` says before you repeat a request that got 429 or 503.\n' +
      '- **Rights**: [who may call what](../routes.md).',
    table(
      ['Group', 'What it is', 'Operations'],
      OPERATION_GROUPS.map(({ title, summary, page: name, operations }) => [
        `[${title}](${name}.md)`,
        summary,
        operations.map(({ id }) => `\`${id}\``).join(', '),
      ]),
    ),
  ])
}
