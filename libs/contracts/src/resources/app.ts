import { z } from 'zod'
import { instant } from '../schemas/text.ts'
import { APP_CATEGORIES } from '../vocabulary/apps.ts'
import { LIMITS } from '../vocabulary/limits.ts'

const described = {
  name: z.string().optional(),
  description: z.string().optional(),
  logo_url: z.string().optional(),
  terms_url: z.string().optional(),
  privacy_url: z.string().optional(),
  owner_signup_limit: z.int().min(0).optional().meta({
    description: "Most accounts of the caller's organization at the app; absent: no limit; 0: no new sign-ups.",
  }),
  updated_at: instant.optional(),
}

/** A third-party service that accepts sign-ins. One outside the catalog shows its id and its name only. */
export const app = z
  .object({
    app_id: z.guid(),
    slug: z.string().optional().meta({ description: 'Accepted in place of app_id; it never changes.' }),
    ...described,
    categories: z.array(z.enum(APP_CATEGORIES)).max(LIMITS.app.categories).optional(),
  })
  .meta({ id: 'App' })
export type App = z.infer<typeof app>

/** An app in the older form of clients that call it a provider. */
export const provider = z.object({ provider_id: z.guid(), ...described }).meta({ id: 'Provider' })
export type Provider = z.infer<typeof provider>
