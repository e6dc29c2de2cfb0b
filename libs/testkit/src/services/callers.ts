import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import type { InternalOperationId } from '@restante/contracts/internal'
import type { OperationId } from '@restante/contracts/operations'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { CALLER_HEADER, SERVICE_HEADER, TokenMint } from '@restante/service/identity'

/** An unrestricted key of a new organization, with the given overrides. */
export function callerOf(overrides: Partial<Caller> = {}): Caller {
  return {
    organization_id: randomUUID(),
    credential: {
      id: randomUUID(),
      type: 'bearer',
      tier: 'organization',
      app_connect: false,
      provisional: false,
    },
    sending: 'ok',
    unverified: false,
    ...overrides,
  }
}

/** Headers with which the gateway forwards one operation of a service for a caller. */
export function callerHeaders(
  service: ServiceName,
  callerKey: string,
  operation: OperationId,
  caller: Caller,
): Record<string, string> {
  return { [CALLER_HEADER]: new TokenMint(service, callerKey).caller(operation, caller) }
}

/** Headers with which one service calls an internal operation of another. */
export function peerHeaders(
  from: ServiceName,
  to: ServiceName,
  peerKey: string,
  operation: InternalOperationId,
): Record<string, string> {
  return { [SERVICE_HEADER]: new TokenMint(to, peerKey).service(operation, from) }
}
