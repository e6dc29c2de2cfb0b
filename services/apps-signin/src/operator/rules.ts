import type { AppSettings } from '@restante/contracts/internal'
import { isUuid } from '@restante/contracts/vocabulary'
import { redirectUriProblem } from '../apps/redirect-uris.ts'
import { slugKey } from '../apps/slugs.ts'

/** Why settings are refused: at which one, and what to do. */
export interface Refusal {
  readonly setting: keyof AppSettings | 'app_id'
  readonly message: string
}

/** The path of the search has this name, so no app can. */
const SEARCH = 'search'

/**
 * Refusals of settings that the contract cannot express (apps 1.1, 5). Pure; that a slug is free is checked elsewhere.
 * @param before the settings that the app has, when it is changed.
 */
export function refusalsOf(settings: AppSettings, before?: AppSettings): Refusal[] {
  return [
    ...slugRefusals(settings, before),
    ...urlRefusals(settings),
    ...repeated('categories', settings.categories),
    ...repeated('scopes', settings.scopes),
    ...(settings.scopes.includes('openid')
      ? []
      : [{ setting: 'scopes' as const, message: 'Must contain openid, without which nothing signs in' }]),
    ...(before !== undefined &&
    settings.disclosure !== before.disclosure &&
    settings.disclosure_version === before.disclosure_version
      ? [
          {
            setting: 'disclosure_version' as const,
            message: `Must be above ${before.disclosure_version}: the text is another one, and earlier consents would hold for it`,
          },
        ]
      : []),
    ...(before !== undefined && settings.disclosure_version < before.disclosure_version
      ? [
          {
            setting: 'disclosure_version' as const,
            message: `Must not decrease from ${before.disclosure_version}: earlier consents would hold for another text`,
          },
        ]
      : []),
  ]
}

function slugRefusals({ slug, listed }: AppSettings, before: AppSettings | undefined): Refusal[] {
  const refuse = (message: string): Refusal[] => [{ setting: 'slug', message }]
  if (before !== undefined && before.slug !== null && slug !== before.slug) {
    return refuse(`Stays ${before.slug}: programs name the app by it`)
  }
  if (slug === null) return listed ? refuse('An app of the catalog needs a slug') : []
  if (slugKey(slug) === SEARCH) return refuse('Must not be search, which is the path of the search')
  return isUuid(slug) ? refuse('Must not have the form of an app id') : []
}

function urlRefusals({ redirect_uris, native, initiate_login_uri }: AppSettings): Refusal[] {
  const redirects = redirect_uris.flatMap((uri) => {
    const problem = redirectUriProblem(uri, native)
    return problem === undefined ? [] : [{ setting: 'redirect_uris' as const, message: `${uri}: ${problem}` }]
  })
  const problem = initiate_login_uri === null ? undefined : redirectUriProblem(initiate_login_uri, native)
  const start = problem === undefined ? [] : [{ setting: 'initiate_login_uri' as const, message: problem }]
  return [...redirects, ...repeated('redirect_uris', redirect_uris), ...start]
}

function repeated(setting: 'categories' | 'scopes' | 'redirect_uris', values: readonly string[]): Refusal[] {
  return new Set(values).size === values.length ? [] : [{ setting, message: 'Must not name one twice' }]
}
