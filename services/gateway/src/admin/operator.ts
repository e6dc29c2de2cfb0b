import { isPermission, isUuid, LIMITS, type Permission } from '@restante/contracts'
import { Outbox } from '@restante/messaging'
import type { Actor } from '../audit/actor.ts'
import { readAudit } from '../audit/store.ts'
import { Secrets } from '../credentials/secrets.ts'
import { type BoundCredential, issueCredential, refuseBeyondLimit, revokeCredentials } from '../credentials/store.ts'
import { type Db, openDatabase, type Tx } from '../database.ts'
import type { Credential, Organization } from '../generated/prisma/client.ts'
import { parseReference } from '../inboxes/store.ts'
import { changeOrganization, createOrganization, lockOrganization } from '../organizations/store.ts'
import { findPod } from '../pods/store.ts'
import { TenancyEvents } from '../tenancy/events.ts'
import type { OperatorConfig } from './config.ts'
import { OperatorMistake } from './mistake.ts'

export interface NewKey {
  readonly organizationId: string
  /** Binds the key to a pod, by id or client_id. */
  readonly pod?: string | undefined
  /** Binds the key to an inbox, by address or client_id. */
  readonly inbox?: string | undefined
  readonly name?: string | undefined
  /** Absent: an unrestricted key. */
  readonly permissions?: readonly string[] | undefined
  readonly expiresAt?: Date | undefined
}

export interface MadeKey {
  readonly row: Credential
  /** Shown once; nobody can show it again. */
  readonly secret: string
}

/**
 * What the operator of an installation does and the API does not offer. The same store and the same events as the API:
 * the running services learn of it through the topic, and no process needs a restart.
 */
export class Operator {
  readonly #db: Db
  readonly #events: TenancyEvents
  readonly #secrets: Secrets
  readonly #actor: Actor

  constructor(config: OperatorConfig) {
    this.#db = openDatabase({ ...config.database, poolSize: 2 })
    // Gateways that run remember keys for a second at most; there is nothing to forget in this process.
    this.#events = new TenancyEvents(new Outbox({ db: this.#db, service: 'gateway' }), () => {})
    this.#secrets = new Secrets(config.credentials)
    this.#actor = { kind: 'operator', id: config.operator }
  }

  close(): Promise<void> {
    return this.#db.stop()
  }

  /** An organization with its default pod and an unrestricted key, which may also grant `app_connect` (identity 3.4). */
  async createOrganization(limits: { inboxes?: number | undefined; domains?: number | undefined } = {}) {
    return this.#db.transaction((tx) => this.#createOrganization(tx, limits))
  }

  /**
   * The organization that a new installation starts with.
   * @returns undefined when there is an organization already, however many processes ask at once.
   */
  async ensureFirstOrganization(): Promise<{ organization: Organization; key: MadeKey } | undefined> {
    return this.#db.transaction(
      async (tx) => {
        const orm = await tx.orm()
        const some = await orm.organization.findFirst({ select: { id: true } })
        return some === null ? this.#createOrganization(tx, {}) : undefined
      },
      { isolation: 'serializable' },
    )
  }

  listOrganizations(): Promise<Organization[]> {
    return this.#db.orm.organization.findMany({ orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
  }

  /** A suspended organization reads and receives, but does not send. @returns whether that is new. */
  async setStatus(id: string, status: 'active' | 'suspended'): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      const organization = await this.#organization(tx, id)
      if (organization.status === status) return false
      await changeOrganization(tx, this.#events, organization, { status }, this.#actor)
      return true
    })
  }

  async createKey(given: NewKey): Promise<MadeKey> {
    const { name = LIMITS.name.default, expiresAt } = given
    if (expiresAt !== undefined && expiresAt <= new Date())
      throw new OperatorMistake('The expiry must be in the future.')
    const permissions = given.permissions === undefined ? undefined : new Set(given.permissions.map(permissionNamed))
    const appConnect = permissions === undefined || permissions.delete('app_connect')
    return this.#db.transaction(async (tx) => {
      const { id: organizationId } = await this.#organization(tx, given.organizationId)
      await refuseBeyondLimit(tx, organizationId, LIMITS.apiKey.perOrganization)
      const scope = { organizationId, ...(await this.#binding(tx, organizationId, given)) }
      return issueCredential(
        tx,
        this.#deps(),
        { scope, name, rights: { permissions, appConnect }, expiresAt },
        this.#actor,
        new Date(),
      )
    })
  }

  listKeys(organizationId: string): Promise<BoundCredential[]> {
    return this.#db.orm.credential.findMany({
      where: { organizationId: uuid(organizationId) },
      include: { inbox: { select: { address: true } } },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    })
  }

  /** Nothing authenticates with the key a second later; streams opened with it are closed. */
  async revokeKey(id: string): Promise<void> {
    const revoked = await this.#db.transaction((tx) =>
      revokeCredentials(tx, this.#events, { id: uuid(id) }, { actor: this.#actor, now: new Date() }),
    )
    if (revoked === 0) throw new OperatorMistake(`There is no key ${id}.`)
  }

  /** Entries of the audit log, newest first, a page at a time. */
  audit(filter: { organizationId: string | undefined; since: Date | undefined }, limit: number) {
    const { organizationId, since } = filter
    return readAudit(this.#db, { organizationId: organizationId && uuid(organizationId), since }, limit)
  }

  async #createOrganization(tx: Tx, limits: { inboxes?: number | undefined; domains?: number | undefined }) {
    const now = new Date()
    const given = { inboxLimit: limits.inboxes, domainLimit: limits.domains }
    const organization = await createOrganization(tx, this.#events, given, this.#actor, now)
    const rights = { permissions: undefined, appConnect: true }
    const scope = { organizationId: organization.id }
    const first = { scope, name: LIMITS.name.default, rights }
    const key = await issueCredential(tx, this.#deps(), first, this.#actor, now)
    return { organization, key }
  }

  async #binding(tx: Tx, organizationId: string, { pod, inbox }: NewKey) {
    if (inbox !== undefined) {
      const { address, clientId } = parseReference(inbox)
      const orm = await tx.orm()
      const row = await orm.inbox.findFirst({
        where: { organizationId, deletedAt: null, ...(address === null ? { clientId } : { address }) },
      })
      if (row === null) throw new OperatorMistake(`The organization has no inbox ${inbox}.`)
      return { podId: row.podId, inboxUid: row.uid }
    }
    if (pod === undefined) return {}
    const podId = await findPod(tx, organizationId, pod)
    if (podId === undefined) throw new OperatorMistake(`The organization has no pod ${pod}.`)
    return { podId }
  }

  async #organization(tx: Tx, id: string): Promise<Organization> {
    const organization = await lockOrganization(tx, uuid(id))
    if (organization === undefined) throw new OperatorMistake(`There is no organization ${id}.`)
    return organization
  }

  #deps() {
    return { events: this.#events, secrets: this.#secrets }
  }
}

function uuid(text: string): string {
  if (isUuid(text)) return text
  throw new OperatorMistake(`${text} is not an id (a UUID).`)
}

function permissionNamed(name: string): Permission {
  if (isPermission(name)) return name
  throw new OperatorMistake(`There is no permission ${name}.`)
}
