import { readFile } from 'node:fs/promises'
import { type AppSettings, appSettings } from '@restante/contracts/internal'
import { validate } from '@restante/contracts/validation'
import { SIGN_IN_SCOPES } from '@restante/contracts/vocabulary'
import { messageOf } from '@restante/service/errors'
import type { z } from 'zod'
import type { AppChange } from '../operator/apps.ts'
import { UsageError } from '../operator/usage-error.ts'

/** Settings as the options of a command give them. */
export interface GivenSettings {
  readonly file?: string | undefined
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly logoUrl?: string | undefined
  readonly termsUrl?: string | undefined
  readonly privacyUrl?: string | undefined
  readonly categories?: string[] | undefined
  readonly slug?: string | undefined
  readonly listed?: boolean | undefined
  readonly native?: boolean | undefined
  readonly redirectUris?: string[] | undefined
  readonly initiateLoginUri?: string | undefined
  readonly scopes?: string[] | undefined
  readonly authMethod?: string | undefined
  readonly signUpLimit?: number | 'none' | undefined
  readonly disclosure?: string | undefined
  readonly disclosureVersion?: number | undefined
}

/** What an app has unless something else is given (apps 5); owner scopes have to be named. */
const DEFAULTS = {
  description: null,
  logo_url: null,
  terms_url: null,
  privacy_url: null,
  categories: [],
  slug: null,
  listed: false,
  native: false,
  redirect_uris: [],
  initiate_login_uri: null,
  scopes: SIGN_IN_SCOPES.filter((scope) => !scope.startsWith('owner_')),
  token_endpoint_auth_method: 'client_secret_basic',
  owner_signup_limit: null,
  disclosure: null,
  disclosure_version: 1,
} as const satisfies Omit<AppSettings, 'name'>

/** The settings of a new app. @throws UsageError for one that is missing or has no such value. */
export async function newSettings(given: GivenSettings): Promise<AppSettings> {
  return checked(appSettings, { ...DEFAULTS, ...(await settingsIn(given)) })
}

/** The settings to change. @throws UsageError likewise, and when there are none. */
export async function changedSettings(given: GivenSettings): Promise<AppChange> {
  const changed = checked(appSettings.partial(), await settingsIn(given))
  if (Object.keys(changed).length === 0) throw new UsageError('Nothing to change: give a setting, or --file.')
  return changed
}

/** Those of the file, replaced by those of options. `none` clears a text. */
async function settingsIn(given: GivenSettings): Promise<Record<string, unknown>> {
  const options = {
    name: given.name,
    description: textOf(given.description),
    logo_url: textOf(given.logoUrl),
    terms_url: textOf(given.termsUrl),
    privacy_url: textOf(given.privacyUrl),
    categories: given.categories,
    slug: textOf(given.slug),
    listed: given.listed,
    native: given.native,
    redirect_uris: given.redirectUris,
    initiate_login_uri: textOf(given.initiateLoginUri),
    scopes: given.scopes,
    token_endpoint_auth_method: given.authMethod,
    owner_signup_limit: given.signUpLimit === 'none' ? null : given.signUpLimit,
    disclosure: textOf(given.disclosure),
    disclosure_version: given.disclosureVersion,
  }
  const fromFile = given.file === undefined ? {} : await readSettings(given.file)
  const named = Object.entries(options).filter(([, value]) => value !== undefined)
  return { ...fromFile, ...Object.fromEntries(named) }
}

function textOf(text: string | undefined): string | null | undefined {
  return text === 'none' ? null : text
}

async function readSettings(file: string): Promise<object> {
  try {
    const document: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (typeof document === 'object' && document !== null && !Array.isArray(document)) return document
  } catch (error) {
    throw new UsageError(`${file} cannot be read as JSON: ${messageOf(error)}`)
  }
  throw new UsageError(`${file} must be a JSON object of settings.`)
}

function checked<T>(schema: z.ZodType<T>, settings: unknown): T {
  const result = validate(schema, settings)
  if (result.ok) return result.value
  throw new UsageError(result.errors.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'))
}
