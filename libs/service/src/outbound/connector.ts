import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressPolicy } from './address-policy.ts'
import { OutboundRefusedError } from './errors.ts'
import { familyOf, type NameResolver } from './resolver.ts'

export interface ConnectorOptions {
  readonly policy: AddressPolicy
  readonly resolver: NameResolver
  /** Certificate authorities instead of the public ones, PEM. */
  readonly ca?: string | undefined
  readonly timeoutMs: number
}

/**
 * Opens connections for users' URLs. The check is part of connecting: the socket gets exactly the addresses that were
 * checked and resolves nothing itself, so a name that resolves differently the second time gains nothing (DNS
 * rebinding).
 */
export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { policy, resolver } = options
  const connect = buildConnector({
    lookup: guardedLookup(policy, resolver),
    autoSelectFamily: true,
    timeout: options.timeoutMs,
    allowH2: false,
    minVersion: 'TLSv1.2',
    // Explicit, because an environment variable can override the default.
    rejectUnauthorized: true,
    ...(options.ca !== undefined && { ca: options.ca }),
  })
  return (target, callback) => {
    const literal = target.hostname.replace(/^\[|\]$/g, '')
    const reason = isIP(literal) ? policy.refusal(literal) : undefined
    if (reason !== undefined) {
      callback(refused(reason), null)
      return
    }
    connect(target, (...[error, socket]) => {
      if (error) {
        callback(error, null)
        return
      }
      // Cannot happen as long as the lookup above is the only source of addresses; the last line of defence.
      const reached = policy.refusal(socket.remoteAddress ?? '')
      if (reached === undefined) {
        callback(null, socket)
        return
      }
      socket.destroy()
      callback(refused(reached), null)
    })
  }
}

function guardedLookup(policy: AddressPolicy, resolver: NameResolver): LookupFunction {
  return (hostname, options, callback) => {
    allowedAddresses(hostname, policy, resolver).then(
      ([first, ...others]) => {
        if (options.all)
          callback(
            null,
            [first, ...others].map((address) => ({ address, family: familyOf(address) })),
          )
        else callback(null, first, familyOf(first))
      },
      (error: Error) => callback(error, '', 0),
    )
  }
}

/** @throws OutboundRefusedError when a name has addresses but none that is allowed. */
async function allowedAddresses(
  hostname: string,
  policy: AddressPolicy,
  resolver: NameResolver,
): Promise<[string, ...string[]]> {
  const verdicts = (await resolver.resolve(hostname)).map((address) => ({ address, reason: policy.refusal(address) }))
  const [first, ...others] = verdicts.filter(({ reason }) => reason === undefined).map(({ address }) => address)
  if (first !== undefined) return [first, ...others]
  throw refused(verdicts[0]?.reason ?? 'reserved')
}

function refused(reason: OutboundRefusedError['reason']): OutboundRefusedError {
  return new OutboundRefusedError(reason, `The host has no public address (${reason}).`)
}
