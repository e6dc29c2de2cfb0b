import type { App, Provider } from '@restante/contracts/resources'
import type { AppRow } from '../apps/store.ts'

/** An app, with the most accounts of the caller's organization at it; null: no limit. */
export interface CatalogRow extends AppRow {
  readonly most: number | null
}

/** The public document. An app outside the catalog shows its id and its name only (apps 1). */
export function appDocument(row: CatalogRow): App {
  const name = row.name !== null && { name: row.name }
  if (!row.listed) return { app_id: row.id, ...name }
  return {
    app_id: row.id,
    ...(row.slug !== null && { slug: row.slug }),
    ...name,
    ...(row.description !== null && { description: row.description }),
    ...(row.logo_url !== null && { logo_url: row.logo_url }),
    ...(row.terms_url !== null && { terms_url: row.terms_url }),
    ...(row.privacy_url !== null && { privacy_url: row.privacy_url }),
    ...(row.most !== null && { owner_signup_limit: row.most }),
    ...(row.categories.length > 0 && { categories: row.categories }),
    updated_at: row.updated_at.toISOString(),
  }
}

/** The same in the form of older clients. */
export function providerDocument(row: CatalogRow): Provider {
  const { app_id, slug: _slug, categories: _categories, ...described } = appDocument(row)
  return { provider_id: app_id, ...described }
}
