import { LIMITS } from '@restante/contracts/vocabulary'
import type { Client } from '../apps/find.ts'

interface Asked {
  readonly client: Client
  readonly address: string
  readonly jti: string
  readonly owner: { readonly email: string; readonly name?: string | undefined }
  readonly scopes: readonly string[]
  readonly link: string
}

const MINUTES = LIMITS.app.ownerApproval / 60_000

/** The mail that asks a human owner whether an app may learn who they are (apps 7.3). */
export function ownerMail({ client, address, jti, owner, scopes, link }: Asked): { subject: string; text: string } {
  const app = client.name === undefined ? (client.host ?? client.clientId) : `${client.name} (${client.host ?? ''})`
  const values = [
    ...(scopes.includes('owner_profile') && owner.name !== undefined ? [`  your name: ${owner.name}`] : []),
    ...(scopes.includes('owner_email') ? [`  your e-mail address: ${owner.email}`] : []),
  ]
  const lines = [
    `The inbox ${address} is signing in to ${app}.`,
    'The app asks for facts about you, the owner of the inbox:',
    '',
    ...values,
    '',
    `To allow or refuse this, open the following link within ${MINUTES} minutes. It works once:`,
    '',
    link,
    '',
    'Without your answer the sign-in ends, and the app learns nothing.',
    `Request id: ${jti}`,
  ]
  return { subject: `Allow ${client.name ?? client.host ?? 'an app'} to see who you are?`, text: lines.join('\n') }
}
