import { PERMISSIONS, type Permission, type PermissionGrant } from '@restante/contracts/access'
import { byLength } from '@restante/testkit'
import fc from 'fast-check'
import {
  type Grant,
  grantForNew,
  grantForNewPublicKey,
  grantForPublicKeyUpdate,
  grantForUpdate,
} from '../../src/credentials/grants.ts'
import { holds, isUnrestricted, type Rights } from '../../src/identity/rights.ts'
import { atMost, gained, mayGive, rightsOf } from './rights.ts'

interface Key {
  readonly isPublic: boolean
  readonly rights: Rights
}

/** One step of a history: some key makes a key, or changes one, with some request. */
const step = fc.record({
  actor: fc.nat(),
  target: fc.nat(),
  deed: fc.constantFrom('bearer', 'public key', 'update'),
  request: fc.oneof(
    fc.constant(undefined),
    fc.constant(null),
    fc.dictionary(fc.constantFrom(...PERMISSIONS), fc.boolean(), { maxKeys: 6 }),
  ),
})

const root = fc
  .record({
    names: fc.option(fc.uniqueArray(fc.constantFrom(...PERMISSIONS.filter((name) => name !== 'app_connect'))), {
      nil: undefined,
    }),
    appConnect: fc.boolean(),
  })
  .map(({ names, appConnect }): Key => ({ isPublic: false, rights: rightsOf(names, appConnect) }))

type Request = PermissionGrant | null | undefined

function change(editor: Key, target: Key, request: Request): Grant {
  const grantOf = target.isPublic ? grantForPublicKeyUpdate : grantForUpdate
  return grantOf(editor.rights, target.rights, request)
}

describe('histories of keys that make and change each other', () => {
  it('never contain a key with more rights than its creator, or a right given by a key without it', () => {
    fc.assert(
      fc.property(root, fc.array(step, { maxLength: 40 }), (first, steps) => {
        const keys: Key[] = [first]
        for (const { actor, target, deed, request } of steps) {
          const by = keys[actor % keys.length] ?? first
          if (deed === 'update') {
            const at = target % keys.length
            const of = keys[at] ?? first
            const grant = change(by, of, request)
            if (grant.outcome !== 'granted') continue
            expect(mayGive(by.rights, gained(grant.rights, of.rights))).toBe(true)
            keys[at] = { ...of, rights: grant.rights }
          } else if (deed === 'bearer' || request !== null) {
            const isPublic = deed === 'public key'
            const grant = isPublic
              ? grantForNewPublicKey(by.rights, request ?? undefined)
              : grantForNew(by.rights, request)
            if (grant.outcome !== 'granted') continue
            expect(atMost(grant.rights, by.rights)).toBe(true)
            keys.push({ isPublic, rights: grant.rights })
          }
        }
        expect(keys.every(({ rights }) => atMost(rights, first.rights))).toBe(true)
        for (const { isPublic, rights } of keys.filter((key) => key.isPublic)) {
          expect([isPublic, isUnrestricted(rights), holds(rights, 'account_update')]).toEqual([true, false, false])
        }
      }),
      { numRuns: byLength({ short: 1_000, long: 3_000 }) },
    )
  })

  it('never give app_connect to a bearer key for which it was not requested by name', () => {
    const names = fc.dictionary(fc.constantFrom<Permission>('inbox_read', 'pod_read'), fc.boolean())
    fc.assert(
      fc.property(root, fc.option(names, { nil: undefined }), (creator, request) => {
        const grant = grantForNew(creator.rights, request)
        if (grant.outcome === 'granted') expect(holds(grant.rights, 'app_connect')).toBe(false)
      }),
      { numRuns: byLength({ short: 200, long: 500 }) },
    )
  })

  it('never let a key regain a permission that it has given up', () => {
    fc.assert(
      fc.property(root, fc.constantFrom(...PERMISSIONS), (editor, permission) => {
        const without = grantForUpdate(editor.rights, editor.rights, { [permission]: false })
        if (without.outcome !== 'granted') return
        const again = grantForUpdate(without.rights, without.rights, { [permission]: true })
        expect(again.outcome).toBe('escalation')
      }),
      { numRuns: byLength({ short: 200, long: 500 }) },
    )
  })
})
