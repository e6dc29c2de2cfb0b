import type { Actor } from '../../audit/actor.ts'
import { revokeCredentials } from '../../credentials/store.ts'
import { beginDeletion } from '../../deletion/begin-deletion.ts'
import { deleteInbox } from '../../deletion/delete-inbox.ts'
import { insertInbox } from '../../inboxes/store.ts'
import { lockOrganization } from '../../organizations/store.ts'
import type { Db } from '../../storage/database.ts'
import type { GatewaySchedule } from '../../storage/timers.ts'
import { inboxChanged, type TenancyEvents } from '../../tenancy/events.ts'

export interface RestoringOptions {
  readonly db: Db
  readonly events: TenancyEvents
  readonly timers: GatewaySchedule
  readonly retiredAddressMs: number
  readonly sharedDomains: ReadonlySet<string>
  readonly operator: string
}

/** An inbox that the gateway has lost, as another store describes it. */
export interface LostInbox {
  readonly inbox_uid: string
  readonly organization_id: string
  readonly pod_id?: string | undefined
  readonly address?: string | undefined
  readonly display_name?: string | undefined
  readonly client_id?: string | undefined
  readonly status?: 'active' | 'paused' | undefined
}

/** Brings a gateway that was put back from a backup up to what the other stores show has happened since. */
export class Restoring {
  readonly #options: RestoringOptions
  readonly #actor: Actor

  constructor(options: RestoringOptions) {
    this.#options = options
    this.#actor = { kind: 'operator', id: options.operator }
  }

  /** Creates an inbox under the uid that it had. @returns why it cannot be, undefined when it exists now. */
  async createInbox({ inbox_uid: uid, ...lost }: LostInbox): Promise<string | undefined> {
    const { db, events, sharedDomains } = this.#options
    const { organization_id: organizationId, address } = lost
    if (address === undefined) return 'its address is not known; mail-ingest may know it'
    return db.transaction(async (tx) => {
      const organization = await lockOrganization(tx, organizationId)
      if (organization === undefined) return `the gateway has no organization ${organizationId}`
      const orm = await tx.orm()
      const pod = await orm.pod.findFirst({
        where: { id: lost.pod_id ?? organizationId, organizationId, deletedAt: null },
      })
      if (pod === null) return `the gateway has no pod ${lost.pod_id}`
      const given = {
        uid,
        organizationId,
        podId: pod.id,
        address,
        ownDomain: !sharedDomains.has(address.slice(address.lastIndexOf('@') + 1)),
        displayName: lost.display_name,
        clientId: lost.client_id,
        paused: lost.status === 'paused',
      }
      const inbox = await insertInbox(tx, given, new Date())
      if (inbox === undefined) return `another inbox has the address ${address}, or its client_id`
      await events.record(tx, inboxChanged(inbox))
      return undefined
    })
  }

  /** Deletes an inbox that was deleted before. */
  async deleteInbox(uid: string, organizationId: string): Promise<void> {
    await this.#options.db.transaction(async (tx) => {
      if ((await lockOrganization(tx, organizationId)) === undefined) return
      const orm = await tx.orm()
      const inbox = await orm.inbox.findFirst({ where: { uid, deletedAt: null } })
      if (inbox !== null) await deleteInbox(tx, this.#options, inbox, this.#actor, new Date())
    })
  }

  /** Begins the deletion of an organization that was deleted before. */
  async deleteOrganization(id: string): Promise<void> {
    await this.#options.db.transaction(async (tx) => {
      const organization = await lockOrganization(tx, id)
      if (organization) await beginDeletion(tx, this.#options, organization, this.#actor, new Date())
    })
  }

  /** Revokes a key that was revoked before. */
  async revokeKey(id: string): Promise<void> {
    const revocation = { actor: this.#actor, now: new Date() }
    await this.#options.db.transaction((tx) => revokeCredentials(tx, this.#options.events, { id }, revocation))
  }
}
