import type { Caller } from '@restante/contracts/access'
import { callerRefusalCode, type InternalRequestOf, type InternalResponseOf } from '@restante/contracts/internal'
import { isOperationId, type OperationDefinition, operations } from '@restante/contracts/operations'
import type { Queryable } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import { findById } from '../../identity/find.ts'
import { admit } from './admission.ts'
import { renewCaller } from './scope.ts'

/**
 * The caller of a request that was admitted some time ago, in its current state: since then it may have been paused,
 * suspended, or given fewer rights.
 * @throws ApiError when the request would be refused now, or the organization was taken over since.
 */
export async function confirmCaller(db: Queryable, operation: OperationDefinition, known: Caller): Promise<Caller> {
  const identity = await findById(db, known.organization_id, known.credential.id)
  if (identity?.takeOvers !== (known.take_overs ?? 0)) throw new ApiError('unknown_api_key')
  if (identity.expiresAt <= Date.now()) throw new ApiError('api_key_expired')
  // The tier, which the prefix of the path determines, does not change in the life of a credential.
  admit(identity, operation, 'organization')
  return renewCaller(db, identity, known)
}

/** The same for another service, which gets an error as part of the response. */
export async function confirmFor(
  db: Queryable,
  { operation, caller }: InternalRequestOf<'gateway.confirmCaller'>,
): Promise<InternalResponseOf<'gateway.confirmCaller'>> {
  if (!isOperationId(operation)) throw new ApiError('unprocessable', { message: `There is no operation ${operation}` })
  try {
    return { status: 'confirmed', caller: await confirmCaller(db, operations[operation], caller) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const code = callerRefusalCode.safeParse(error.code)
    if (!code.success) throw error
    const { fix } = error.options
    return { status: 'refused', code: code.data, message: error.message, ...(fix !== undefined && { fix }) }
  }
}
