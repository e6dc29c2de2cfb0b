/**
 * The pages of sign-in as functions from data to HTML, without I/O, and the files that they load. What the scripts of the
 * pages expect of the server, each a JSON call with the cookie of the page:
 *
 * - `POST /v0/enroll/status {jti}` answers `{state: "waiting" | "enroll" | "approved" | "ended"}`. The waiting page and the
 *   page that waits for the owner go to `/v0/authorize/continue?jti=` on `approved` and `ended`.
 * - `POST /v0/enroll/start {ticket} | {jti}` answers `{enrollment_id, api_key_id, inbox_id, app, challenge, expires_at}`.
 * - `POST /v0/enroll/finish {enrollment_id, public_key, proof}` answers 204.
 * - `POST /v0/authorize/sign {jti, assertion}` answers `{next}`; 401 makes the browser forget that key.
 * - `POST /v0/authorize/decline {jti, reason: "no_key"}` answers `{location}`.
 * - `POST /v0/authorize/consent {jti, allow, shown}` answers `{location}`: the same page again if what it shows has changed.
 * - `POST /owner/decide {token, allow}` answers 2xx; then the page loads `/owner/{token}` again, which shows what was
 *   decided.
 *
 * 410 says that a sign-in or link is over, 409 that it was decided elsewhere; 429 and 5xx are worth another try.
 */

export type { RenderedPage } from '@restante/service/pages'
export { consentPage } from './consent.ts'
export type {
  AppShown,
  ConsentData,
  EnrollmentData,
  ErrorData,
  OwnerData,
  OwnerDoneData,
  OwnerWaitingData,
  SharedValues,
  WaitingData,
} from './data.ts'
export { enrollmentPage } from './enrollment.ts'
export { errorPage, expiredLinkPage } from './errors.ts'
export { ownerDonePage, ownerPage, ownerWaitingPage } from './owner.ts'
export { pageRoutes } from './routes.ts'
export { sessionsPage } from './sessions.ts'
export { waitingPage } from './waiting.ts'
