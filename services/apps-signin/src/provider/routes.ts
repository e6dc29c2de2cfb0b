import type { PublicRoute } from '../http/public-routes.ts'
import { approveRoutes } from './approve.ts'
import { authorizeRoutes } from './authorize.ts'
import { continueRoutes } from './continue.ts'
import type { ProviderOptions } from './deps.ts'
import { discoveryRoutes } from './discovery.ts'
import { signRoutes } from './sign.ts'
import { tokenRoutes } from './token.ts'
import { userInfoRoutes } from './user-info.ts'

/** The endpoints of the OpenID provider (apps 6). */
export function providerRoutes(options: ProviderOptions): PublicRoute[] {
  return [
    ...discoveryRoutes(options),
    ...authorizeRoutes(options),
    ...signRoutes(options),
    ...approveRoutes(options),
    ...continueRoutes(options),
    ...tokenRoutes(options),
    ...userInfoRoutes(options),
  ]
}
