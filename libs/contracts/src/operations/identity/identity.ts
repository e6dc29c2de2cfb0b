import { BASE, define, group } from '../../definition/define.ts'
import { organization } from '../../resources/organization.ts'
import { scopeIdentity } from '../../resources/scope-identity.ts'

/** The identity of the caller, and its organization (identity 5.5, 6). */
export const identityOperations = group({
  'auth.me': define({
    ...BASE,
    id: 'auth.me',
    method: 'GET',
    path: '/auth/me',
    prefixes: ['organization'],
    tiers: ['organization', 'pod', 'inbox'],
    permission: 'any',
    service: 'gateway',
    summary: 'Tell which organization, pod or inbox the credential is bound to',
    response: scopeIdentity,
  }),
  'organizations.get': define({
    ...BASE,
    id: 'organizations.get',
    method: 'GET',
    path: '/organizations',
    prefixes: ['organization'],
    tiers: ['organization'],
    permission: 'organization_read',
    service: 'gateway',
    summary: 'Get the organization of the credential',
    response: organization,
  }),
})
