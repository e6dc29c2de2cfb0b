import { asyncapi } from './asyncapi.ts'
import { openapi } from './openapi.ts'
import { routesPage } from './routes-page.ts'
import { topicsPage } from './topics-page.ts'

/** Every generated document by its path below `docs/`. The same input gives the same bytes. */
export function documents(): Readonly<Record<string, string>> {
  return {
    'api/openapi.json': `${JSON.stringify(openapi(), null, 2)}\n`,
    'api/asyncapi.yaml': asyncapi(),
    'topics.md': topicsPage(),
    'routes.md': routesPage(),
  }
}
