import { env } from '@restante/service/configuration'
import { z } from 'zod'
import { type SharedDomainsGiven, sharedDomainsOf } from './blocks.ts'

/** Who reads the mail to the installation itself, and at which addresses it arrives. */
export interface Operator {
  /** Where the mail goes. */
  readonly address: string
  /** Whether that is an inbox on a shared domain, which then gets the mail itself and no forwarded one. */
  readonly isInside: boolean
  /** The addresses, normalized; `postmaster` without a domain is one of them (RFC 5321 4.5.1). */
  readonly names: ReadonlySet<string>
  /** The domain of return paths. */
  readonly bounces: string
  /** The address that marks forwarded mail, so that one that comes back is recognised. */
  readonly mark: string
}

/** Local parts that RFC 5321 4.5.1 and RFC 2142 require of a domain that receives mail. */
const LOCAL_PARTS = ['postmaster', 'abuse'] as const
const ADDRESS = /^[^\s<>@"]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/i

/** The operator. mail-ingest receives the mail to the installation, mail-send forwards it. */
export const operatorVariables = {
  variables: z.object({
    OPERATOR_ADDRESS: env
      .string()
      .refine((address) => ADDRESS.test(address), 'must be a mail address')
      .describe(
        'Mail address of the operator: gets the mail to postmaster@ and abuse@ of DEFAULT_DOMAIN, SHARED_DOMAINS and BOUNCE_DOMAIN; the same for mail-ingest and mail-send',
      ),
  }),
  check: (given: OperatorGiven) => problemsOf(operatorOf(given)),
  configure: (given: OperatorGiven) => ({ operator: operatorOf(given) }),
}

interface OperatorGiven extends SharedDomainsGiven {
  readonly OPERATOR_ADDRESS: string
  readonly BOUNCE_DOMAIN?: string | undefined
}

function problemsOf({ address, names, bounces }: Operator): string[] {
  if (names.has(address.toLowerCase()))
    return ['OPERATOR_ADDRESS must not be one of the addresses whose mail is forwarded to it']
  return address.endsWith(`@${bounces}`) ? ['OPERATOR_ADDRESS must not be at BOUNCE_DOMAIN, which has no inboxes'] : []
}

/** The operator, by the variables. Pure. */
export function operatorOf({ OPERATOR_ADDRESS: given, BOUNCE_DOMAIN, ...domains }: OperatorGiven): Operator {
  const shared = sharedDomainsOf(domains)
  const own = domains.DEFAULT_DOMAIN.toLowerCase()
  const bounces = (BOUNCE_DOMAIN ?? `bounces.${own}`).toLowerCase()
  const at = given.lastIndexOf('@')
  const domain = given.slice(at + 1).toLowerCase()
  const names = [...shared, bounces].flatMap((of) => LOCAL_PARTS.map((local) => `${local}@${of}`))
  return {
    address: `${given.slice(0, at)}@${domain}`,
    isInside: shared.has(domain),
    names: new Set(['postmaster', ...names]),
    bounces,
    mark: `postmaster@${own}`,
  }
}
