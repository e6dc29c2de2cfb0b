import type { ConfigOf, KitOf } from '@restante/kit'
import type { configuration } from './config.ts'
import { PublicError } from './http/public-error.ts'
import { dispatch, type PublicRoute } from './http/public-routes.ts'
import { pageRoutes } from './pages/index.ts'

/** Serves the origin of sign-in, which is not that of the API. */
export function openPublic(
  kit: KitOf<typeof configuration>,
  { authPort }: ConfigOf<typeof configuration>,
  routes: readonly PublicRoute[],
): void {
  const handle = dispatch([...pageRoutes(), ...routes], async ({ response }) => {
    new PublicError(404, 'not_found', 'There is no such page').send(response)
  })
  kit.listen({ port: authPort, audience: 'public', handle })
}
