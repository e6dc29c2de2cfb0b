import { randomUUID } from 'node:crypto'
import type { AppSettings, InternalRequestOf, InternalResponseOf, RegisteredApp } from '@restante/contracts/internal'
import { isUuid } from '@restante/contracts/vocabulary'
import { ServiceClient } from '@restante/service/http'
import type { AppsConfig } from './config.ts'
import type { Operator } from './operator.ts'
import { UsageError } from './usage-error.ts'

/** As long as a statement may take in the database of the service, and a little more. */
const ANSWER_MS = 15_000
const PAGE = 200

/** An app, and its new secret, which cannot be retrieved again. */
export interface ChangedApp {
  readonly app: RegisteredApp
  readonly secret: string | undefined
}

/** Settings to change; those that are absent stay. */
export type AppChange = InternalRequestOf<'apps-signin.updateApp'>['settings']

export type SignUpLimit = InternalResponseOf<'apps-signin.listSignUpLimits'>['limits'][number]

/** Apps that accept sign-ins, which apps-signin owns: every command is a call to it. */
export class Apps {
  readonly #appsSignin: ServiceClient<'gateway'>
  readonly #operator: string

  constructor({ appsSignin, operator }: AppsConfig) {
    this.#appsSignin = new ServiceClient({ from: 'gateway', to: 'apps-signin', ...appsSignin })
    this.#operator = operator
  }

  close(): Promise<void> {
    return this.#appsSignin.stop()
  }

  /** @throws UsageError for settings that the owner of apps refuses. */
  async create(settings: AppSettings): Promise<ChangedApp> {
    const request = { app_id: randomUUID(), settings, operator: this.#operator }
    return changedOf(await this.#appsSignin.call('apps-signin.createApp', request, ANSWER_MS), request.app_id)
  }

  /** Registered apps by name, a page at a time. */
  async *list(limit: number): AsyncGenerator<RegisteredApp[]> {
    let after: InternalRequestOf<'apps-signin.listApps'>['after']
    for (let left = limit; left > 0; ) {
      const request = { limit: Math.min(left, PAGE), ...(after && { after }) }
      const { apps } = await this.#appsSignin.call('apps-signin.listApps', request, ANSWER_MS)
      const last = apps.at(-1)
      if (last === undefined) return
      yield apps
      if (apps.length < request.limit) return
      left -= apps.length
      after = { name: last.name, app_id: last.app_id }
    }
  }

  /** @param named its id or its slug. @throws UsageError when there is none. */
  async show(named: string): Promise<RegisteredApp> {
    const { app } = await this.#appsSignin.call('apps-signin.getApp', { app: named }, ANSWER_MS)
    if (app === undefined) throw unknownApp(named)
    return app
  }

  /** Changes the given settings. @throws UsageError as `create` and `show`. */
  async update(named: string, settings: AppChange): Promise<ChangedApp> {
    const request = { app_id: await this.#idOf(named), settings, operator: this.#operator }
    return changedOf(await this.#appsSignin.call('apps-signin.updateApp', request, ANSWER_MS), named)
  }

  /** Gives it another secret: with two, the older one goes. */
  async addSecret(named: string): Promise<ChangedApp> {
    const request = { app_id: await this.#idOf(named), operator: this.#operator }
    return changedOf(await this.#appsSignin.call('apps-signin.addSecret', request, ANSWER_MS), named)
  }

  async removeSecret(named: string, secret_id: string): Promise<ChangedApp> {
    const request = { app_id: await this.#idOf(named), secret_id, operator: this.#operator }
    return changedOf(await this.#appsSignin.call('apps-signin.removeSecret', request, ANSWER_MS), `secret ${secret_id}`)
  }

  async remove(named: string): Promise<void> {
    const request = { app_id: await this.#idOf(named), operator: this.#operator }
    const { removed } = await this.#appsSignin.call('apps-signin.removeApp', request, ANSWER_MS)
    if (!removed) throw unknownApp(named)
  }

  /** Limits of single organizations, a page at a time. */
  async *limits(named: string): AsyncGenerator<SignUpLimit[]> {
    const app_id = await this.#idOf(named)
    let after: string | undefined
    for (;;) {
      const request = { app_id, limit: PAGE, ...(after !== undefined && { after }) }
      const { limits } = await this.#appsSignin.call('apps-signin.listSignUpLimits', request, ANSWER_MS)
      if (limits.length > 0) yield limits
      if (limits.length < PAGE) return
      after = limits.at(-1)?.organization_id
    }
  }

  /**
   * Sets the most accounts of one organization at an app; null: as many as the app allows everybody. The entry in the
   * organization's audit log is kept only if the owner of apps accepts the change.
   */
  async setLimit(named: string, organizationId: string, limit: number | null, operator: Operator): Promise<void> {
    const app_id = await this.#idOf(named)
    const details = { after: { app_id, sign_up_limit: limit } }
    await operator.audited({ action: 'sign_up_limit.changed', organizationId, details }, async () => {
      const request = { app_id, organization_id: organizationId, limit, operator: this.#operator }
      const { found } = await this.#appsSignin.call('apps-signin.setSignUpLimit', request, ANSWER_MS)
      if (!found) throw new UsageError(`App ${named} or organization ${organizationId} was not found.`)
    })
  }

  async #idOf(named: string): Promise<string> {
    return isUuid(named) ? named.toLowerCase() : (await this.show(named)).app_id
  }
}

function changedOf(answer: InternalResponseOf<'apps-signin.updateApp'>, named: string): ChangedApp {
  switch (answer.outcome) {
    case 'done':
      return { app: answer.app, secret: answer.client_secret }
    case 'unknown':
      throw unknownApp(named)
    case 'refused':
      throw new UsageError(answer.refusals.map(({ setting, message }) => `${setting}: ${message}`).join('\n'))
  }
}

function unknownApp(named: string): UsageError {
  return new UsageError(`App ${named} was not found.`)
}
