import { createHmac } from 'node:crypto'
import type { SignInInbox, SignInOwner } from '@restante/contracts/internal'
import type { SignInScope } from '@restante/contracts/vocabulary'

/** The names by which apps know inboxes and owners (apps 6.2): stable, and no way back to the id. */
export class Subjects {
  readonly #secret: string

  /** @param secret `SUBJECT_SECRET`: with another one every app sees strangers. */
  constructor(secret: string) {
    this.#secret = secret
  }

  /** `sub` of an inbox: the same at all apps, another one for a later inbox of the same address. */
  ofInbox(inboxUid: string): string {
    return this.#name(`sub:${inboxUid}`)
  }

  /** `owner_sub` of a human: the same for all inboxes of all their organizations. */
  ofOwner(ownerId: string): string {
    return this.#name(`owner:${ownerId}`)
  }

  #name(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url')
  }
}

/** Whom a sign-in is about, and what of it goes out. */
export interface Disclosed {
  readonly scopes: readonly SignInScope[]
  readonly inbox: SignInInbox
  /** The owner whose facts were allowed to be shared; undefined: none. */
  readonly owner: SignInOwner | undefined
  /** An open client gets nothing for `profile` (apps 5.2). */
  readonly registered: boolean
}

/** The claims of granted scopes, the same in ID tokens, at UserInfo and on pages. A claim without a value is absent. */
export function claimsOf(subjects: Subjects, { scopes, inbox, owner, registered }: Disclosed) {
  const has = (scope: SignInScope) => scopes.includes(scope)
  const profile = registered && has('profile')
  return {
    sub: subjects.ofInbox(inbox.inbox_uid),
    actor_type: 'agent' as const,
    ...(has('email') && { email: inbox.address, email_verified: true }),
    ...(profile && nameOf(inbox) && { name: nameOf(inbox) }),
    ...(profile && { preferred_username: inbox.address.slice(0, inbox.address.lastIndexOf('@')) }),
    ...(profile && owner && { owner_sub: subjects.ofOwner(owner.id) }),
    ...(registered && has('owner_profile') && owner?.name && { owner_name: owner.name }),
    ...(registered && has('owner_email') && owner && { owner_email: owner.email, owner_email_verified: true }),
  }
}

function nameOf({ display_name }: SignInInbox): string | undefined {
  return display_name === '' ? undefined : display_name
}
