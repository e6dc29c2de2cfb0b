import { userInfo } from 'node:os'
import type { z } from 'zod'
import { secretsConfiguration, variables } from '../config.ts'

/** The part of the gateway's environment that the command line needs. */
export const environment = variables.pick({
  DATABASE_URL: true,
  DATABASE_DIRECT_URL: true,
  INSTALLATION_SECRET: true,
  REGION: true,
  CREDENTIAL_LIMIT: true,
})

export function configure(given: z.output<typeof environment>) {
  return {
    database: { url: given.DATABASE_URL, directUrl: given.DATABASE_DIRECT_URL },
    credentials: secretsConfiguration(given),
    credentialLimit: given.CREDENTIAL_LIMIT,
    operator: userName(),
  }
}
export type OperatorConfig = ReturnType<typeof configure>

/** The logged-in user, for the audit log. A container may run under a user id that has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
