export { requireEventTypes } from './event-types.ts'
export { requirePermission } from './permissions.ts'
export {
  isInScope,
  type Located,
  organizationScope,
  requireInbox,
  type ScopeFilter,
  scopeFilter,
} from './scope.ts'
export {
  bodyDigest,
  CALLER_HEADER,
  type CallerClaims,
  InvalidTokenError,
  KEY_HEADER,
  SERVICE_HEADER,
  TokenMint,
  verifyCaller,
  verifyService,
} from './tokens.ts'
