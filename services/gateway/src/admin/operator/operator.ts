import { isDeepStrictEqual } from 'node:util'
import type { OwnSendLimits, SendLimit } from '@restante/contracts/access'
import { LIMITS, type Tier } from '@restante/contracts/vocabulary'
import { Schedule } from '@restante/jobs'
import { Outbox } from '@restante/messaging'
import { holdHuman } from '../../agents/codes.ts'
import { changeHuman } from '../../agents/human.ts'
import type { Actor } from '../../audit/actor.ts'
import { type AuditChange, recordAudit } from '../../audit/log.ts'
import { readAudit } from '../../audit/store.ts'
import { issueCredential } from '../../credentials/insert.ts'
import { Secrets } from '../../credentials/secrets.ts'
import { revokeCredentials } from '../../credentials/store.ts'
import { beginDeletion } from '../../deletion/begin-deletion.ts'
import type { AuditEntry, Organization } from '../../generated/prisma/client.ts'
import { sendLimitsFromRow } from '../../identity/send-limits.ts'
import {
  changeOrganization,
  createOrganization,
  lockOrganization,
  type OrganizationChange,
} from '../../organizations/store.ts'
import { type Db, openDatabase, type Tx } from '../../storage/database.ts'
import { behind, byCreation } from '../../storage/keyset-condition.ts'
import { pages } from '../../storage/read-in-batches.ts'
import type { GatewayTimerKinds } from '../../storage/timers.ts'
import { TenancyEvents } from '../../tenancy/events.ts'
import type { OperatorConfig } from './config.ts'
import { issueKey, type ListedKey, listKeys, type MadeKey, type NewKey, ownerOfInbox } from './keys.ts'
import { type NamedHuman, type OrganizationStatus, refuseKnownHuman, whereStatus } from './organizations.ts'
import { noOrganization, UsageError, unknownOrganization, uuid } from './usage-error.ts'

/** Limits of an organization. Absent: unchanged; null: no limit of its own. */
export interface Limits {
  readonly inboxes?: number | null | undefined
  readonly domains?: number | null | undefined
  readonly keys?: number | null | undefined
}

/** Limits of sends by tier. Absent: unchanged; null: those of the installation. */
export type SendLimitsChange = { readonly [T in Tier]?: SendLimit[] | null | undefined }

/**
 * Operations of the installation's operator that the API does not offer. They use the same store and events as the API:
 * running services learn of changes through the topic, and no process needs a restart.
 */
export class Operator {
  readonly #db: Db
  readonly #events: TenancyEvents
  readonly #timers = new Schedule<GatewayTimerKinds>()
  readonly #secrets: Secrets
  readonly #credentialLimit: number
  readonly #actor: Actor

  constructor(config: OperatorConfig) {
    this.#db = openDatabase({ ...config.database, poolSize: 2 })
    // Running gateways cache keys for a second at most; this process has no cache to invalidate.
    this.#events = new TenancyEvents(new Outbox({ db: this.#db, service: 'gateway' }), () => {})
    this.#secrets = new Secrets(config.credentials)
    this.#credentialLimit = config.credentialLimit
    this.#actor = { kind: 'operator', id: config.operator }
  }

  close(): Promise<void> {
    return this.#db.stop()
  }

  /**
   * Creates an organization with its default pod and an unrestricted key, which may also grant `app_connect` (identity
   * 3.4).
   * @param human its human: sign-up then refuses this address, instead of creating an organization for it (identity
   * 5.1).
   */
  async createOrganization(limits: Limits = {}, human?: NamedHuman) {
    return this.#db.transaction(async (tx) => {
      if (human !== undefined) {
        await holdHuman(tx, human.address)
        await refuseKnownHuman(tx, human.address)
      }
      return this.#createOrganization(tx, limits, human)
    })
  }

  /**
   * The organization that a new installation starts with.
   * @returns undefined when there is an organization already, also when several processes call this at once.
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

  /** Oldest first, a page at a time. */
  organizations(status?: OrganizationStatus): AsyncGenerator<Organization[]> {
    return pages((after, take) =>
      this.#db.orm.organization.findMany({
        where: {
          ...whereStatus(status),
          AND: behind(after && byCreation(after), 'asc', (id) => ({ id })),
        },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        take,
      }),
    )
  }

  /** One organization, even while it is being deleted, and its counts. */
  async organization(id: string) {
    const row = await this.#db.orm.organization.findUnique({ where: { id: uuid(id) } })
    if (row === null) throw unknownOrganization(id)
    const where = { organizationId: id }
    const [keys, pods] = await Promise.all([
      this.#db.orm.credential.count({ where }),
      this.#db.orm.pod.count({ where: { ...where, deletedAt: null } }),
    ])
    return { row, keys, pods }
  }

  /** A suspended organization reads and receives, but does not send. @returns whether anything changed. */
  async setStatus(id: string, status: 'active' | 'suspended'): Promise<boolean> {
    return this.#change(id, (organization) =>
      status === 'active' && organization.status === 'suspended' ? { status, resumedAt: new Date() } : { status },
    )
  }

  /** Opens or closes the calendars of an organization to its keys; they stay stored. @returns whether anything changed. */
  async setCalendarAccess(id: string, calendarAccess: boolean): Promise<boolean> {
    return this.#change(id, () => ({ calendarAccess }))
  }

  /** @returns whether anything changed. */
  async setLimits(id: string, { inboxes, domains, keys }: Limits): Promise<boolean> {
    return this.#change(id, () => ({
      ...(inboxes === undefined ? {} : { inboxLimit: inboxes }),
      ...(domains === undefined ? {} : { domainLimit: domains }),
      ...(keys === undefined ? {} : { credentialLimit: keys }),
    }))
  }

  /** What it may send, where that differs from the limits of the installation. */
  async sendLimits(id: string): Promise<OwnSendLimits> {
    const { row } = await this.organization(id)
    return sendLimitsFromRow(row.sendLimits)
  }

  /** Changes the limits of the given tiers; null: those of the installation. @returns whether anything changed. */
  async setSendLimits(id: string, given: SendLimitsChange): Promise<boolean> {
    const changes = Object.entries(given).filter(([, limits]) => limits !== undefined)
    return this.#change(id, (organization) => {
      const tiers = { ...sendLimitsFromRow(organization.sendLimits), ...Object.fromEntries(changes) }
      return { sendLimits: Object.fromEntries(Object.entries(tiers).filter(([, limits]) => limits !== null)) }
    })
  }

  /** Sets the human of an organization; null: none. The name of another human goes. @returns whether anything changed. */
  async setHuman(id: string, human: string | null): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      if (human !== null) await holdHuman(tx, human)
      const organization = await this.#lock(tx, id)
      if (organization.humanEmail === human) return false
      if (organization.authenticationType === 'agent_unverified') {
        throw new UsageError('Its agent attaches the human, with POST /v0/agent/human: a code must confirm it.')
      }
      if (human !== null) await refuseKnownHuman(tx, human)
      const deps = { events: this.#events, timers: this.#timers }
      await changeHuman(tx, deps, organization, { humanEmail: human }, this.#actor)
      return true
    })
  }

  /** Sets the name of the human that it has. @returns whether anything changed. */
  async setHumanName(id: string, humanName: string): Promise<boolean> {
    return this.#change(id, ({ humanEmail }) => {
      if (humanEmail === null) throw new UsageError('It has no human. Set one first.')
      return { humanName }
    })
  }

  /**
   * Begins the deletion: the organization's keys are revoked with the commit, and a gateway deletes its data.
   * @returns whether anything changed.
   */
  async deleteOrganization(id: string): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      const organization = await lockOrganization(tx, uuid(id))
      if (organization === undefined) {
        const orm = await tx.orm()
        if ((await orm.organization.findUnique({ where: { id }, select: { id: true } })) === null) {
          throw unknownOrganization(id)
        }
        return false
      }
      const deps = { events: this.#events, timers: this.#timers }
      await beginDeletion(tx, deps, organization, this.#actor, new Date())
      return true
    })
  }

  /** Whether nothing of an organization is left. */
  async isGone(id: string): Promise<boolean> {
    return (await this.#db.orm.organization.findUnique({ where: { id }, select: { id: true } })) === null
  }

  async createKey(given: NewKey): Promise<MadeKey> {
    return this.#db.transaction(async (tx) => {
      const organization = await this.#lock(tx, given.organizationId)
      return issueKey(tx, this.#deps(), organization, given, this.#actor)
    })
  }

  ownerOfInbox(address: string): Promise<string> {
    return ownerOfInbox(this.#db, address)
  }

  /** Oldest first, a page at a time. */
  async *keys(organizationId: string): AsyncGenerator<ListedKey[]> {
    if (await this.isGone(uuid(organizationId))) throw unknownOrganization(organizationId)
    yield* listKeys(this.#db, organizationId)
  }

  /** Within a second nothing authenticates with the key; streams opened with it are closed. */
  async revokeKey(id: string): Promise<void> {
    const revoked = await this.#db.transaction((tx) =>
      revokeCredentials(tx, this.#events, { id: uuid(id) }, { actor: this.#actor, now: new Date() }),
    )
    if (revoked === 0) throw new UsageError(`Key ${id} was not found.`)
  }

  /** Entries of the audit log, newest first, a page at a time. */
  audit(
    filter: { organizationId: string | undefined; since: Date | undefined },
    limit: number,
  ): AsyncGenerator<AuditEntry[]> {
    const { organizationId, since } = filter
    return readAudit(this.#db, { organizationId: organizationId && uuid(organizationId), since }, limit)
  }

  /**
   * Does something in another service, with an entry in the audit log that is committed after it: if it fails, there is no
   * entry, and only a crash between the two leaves it without one.
   */
  audited<T>(change: AuditChange, work: () => Promise<T>): Promise<T> {
    return this.#db.transaction(async (tx) => {
      await recordAudit(tx, this.#actor, new Date(), change)
      return work()
    })
  }

  async #createOrganization(tx: Tx, limits: Limits, human?: NamedHuman) {
    const now = new Date()
    const given = {
      humanEmail: human?.address,
      humanName: human?.name,
      inboxLimit: limits.inboxes ?? undefined,
      domainLimit: limits.domains ?? undefined,
      credentialLimit: limits.keys ?? undefined,
    }
    const organization = await createOrganization(tx, this.#events, given, this.#actor, now)
    const first = {
      scope: { organizationId: organization.id },
      name: LIMITS.name.default,
      rights: { permissions: undefined, appConnect: true },
    }
    const key = await issueCredential(tx, this.#deps(), first, this.#actor, now)
    return { organization, key }
  }

  async #change(id: string, changeOf: (organization: Organization) => OrganizationChange): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      const organization = await this.#lock(tx, id)
      const change = changeOf(organization)
      const isNew = !isDeepStrictEqual({ ...organization, ...change }, organization)
      if (isNew) await changeOrganization(tx, this.#events, organization, change, this.#actor)
      return isNew
    })
  }

  async #lock(tx: Tx, id: string): Promise<Organization> {
    const organization = await lockOrganization(tx, uuid(id))
    if (organization === undefined) throw noOrganization(id)
    return organization
  }

  #deps() {
    return { events: this.#events, secrets: this.#secrets, credentialLimit: this.#credentialLimit }
  }
}
