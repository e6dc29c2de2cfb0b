import { env } from '@restante/service/configuration'
import { z } from 'zod'

/** The part of the gateway's environment without which a command cannot say what a client is to be given. */
export const publicUrlEnvironment = z.object({
  PUBLIC_URL: env.url().describe('Base URL of the public API, as clients use it'),
})

export function configurePublicUrl(given: z.output<typeof publicUrlEnvironment>): string {
  return given.PUBLIC_URL.replace(/\/+$/, '')
}
