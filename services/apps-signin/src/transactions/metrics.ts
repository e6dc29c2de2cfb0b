import { Counter } from 'prom-client'

/** `code` once it was issued, `exchanged` once the app has it; the others are errors of OAuth, and of the exchange. */
export const OUTCOMES = [
  ...([
    'started',
    'code',
    'exchanged',
    'access_denied',
    'login_required',
    'consent_required',
    'invalid_scope',
  ] as const),
  ...(['invalid_request', 'unsupported_response_type', 'request_not_supported', 'request_uri_not_supported'] as const),
  ...(['invalid_client', 'invalid_grant', 'limited'] as const),
] as const

const signIns = new Counter({
  name: 'restante_sign_ins_total',
  help: 'Steps of sign-ins to apps by outcome: started, code, exchanged, or the error that an app was sent',
  labelNames: ['outcome'],
})
for (const outcome of OUTCOMES) signIns.inc({ outcome }, 0)

/** Counts an outcome; one that is not known, which no caller can cause, counts as none. */
export function countOutcome(outcome: string): void {
  const known = OUTCOMES.find((one) => one === outcome)
  if (known !== undefined) signIns.inc({ outcome: known })
}
