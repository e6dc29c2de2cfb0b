import { OPERATION_GROUPS } from '../operations/groups.ts'
import { asyncapi } from './asyncapi.ts'
import { openapi } from './openapi.ts'
import { errorsPage } from './reference/errors-page.ts'
import { groupPage } from './reference/group-page.ts'
import { indexPage } from './reference/index-page.ts'
import { routesPage } from './routes-page.ts'
import { topicsPage } from './topics-page.ts'

/** Every generated document by its path below `docs/`. The same input gives the same bytes. */
export function documents(): Readonly<Record<string, string>> {
  const api = openapi()
  return {
    'api/openapi.json': `${JSON.stringify(api, null, 2)}\n`,
    'api/asyncapi.yaml': asyncapi(),
    'topics.md': topicsPage(),
    'routes.md': routesPage(),
    'errors.md': errorsPage(),
    'api/index.md': indexPage(),
    ...Object.fromEntries(OPERATION_GROUPS.map((group) => [`api/${group.page}.md`, groupPage(group, api)])),
  }
}
