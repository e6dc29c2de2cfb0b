import { readFileSync } from 'node:fs'
import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { z } from 'zod'

/** Secret variables of the services by service and name, as `npm run generate:docs` finds them in their configurations. */
const document = z.record(
  z.enum(SERVICES),
  z.record(z.string(), z.object({ required: z.boolean(), confidential: z.enum(['own', 'shared']) })),
)

/** A secret variable of one service. */
export interface SecretVariable {
  readonly service: ServiceName
  readonly name: string
  readonly required: boolean
  /** Whether all services with this variable have the same value. */
  readonly isShared: boolean
}

/** Every secret variable of every service. */
export function secretVariables(): SecretVariable[] {
  const found = document.parse(JSON.parse(readFileSync(new URL('services.json', import.meta.url), 'utf8')))
  return SERVICES.flatMap((service) =>
    Object.entries(found[service]).map(([name, { required, confidential }]) => ({
      service,
      name,
      required,
      isShared: confidential === 'shared',
    })),
  )
}
