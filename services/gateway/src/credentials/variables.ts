import { LIMITS } from '@restante/contracts/vocabulary'
import { env } from '@restante/service/configuration'
import { z } from 'zod'

const variables = z.object({
  INSTALLATION_SECRET: env.secret().describe('Key for hashing API keys and verification codes; must never change'),
  REGION: env.choice(['us', 'eu'], 'us').describe('Region in the prefix of new API keys'),
  CREDENTIAL_LIMIT: env
    .integer(LIMITS.apiKey.perOrganization)
    .describe('Valid API keys per organization; the same number of expired ones is kept'),
})

/** What API keys are made with, and how many there may be: for the gateway and for the operator's command line. */
export const credentialVariables = {
  variables,
  configure: (given: z.output<typeof variables>) => ({
    credentials: { installationSecret: given.INSTALLATION_SECRET, region: given.REGION },
    credentialLimit: given.CREDENTIAL_LIMIT,
  }),
}
