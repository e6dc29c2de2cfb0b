import type { Handlers, OperationRequest } from '@restante/service/http'
import { type AuthorizeOptions, authorize } from './authorize.ts'
import { type ConnectOptions, connect } from './connect.ts'

type Connecting = 'apps.connect' | 'providers.connect'

/** The operations by which an agent begins a sign-in, or lets one go on. */
export function connectRoutes(
  options: ConnectOptions & AuthorizeOptions,
): Pick<Handlers<'apps-signin'>, Connecting | 'apps.authorize'> {
  const begin = ({ caller, params, body, idempotencyKey }: OperationRequest<Connecting>) =>
    connect(options, {
      caller,
      app: params.app_id,
      inboxId: body?.inbox_id,
      acceptDisclosure: body?.accept_disclosure ?? false,
      idempotencyKey,
    })
  return {
    'apps.connect': begin,
    'providers.connect': begin,
    'apps.authorize': ({ caller, body }) =>
      authorize(options, {
        caller,
        authToken: body.auth_token,
        acceptDisclosure: body.accept_disclosure ?? false,
      }),
  }
}
