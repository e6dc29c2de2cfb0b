import type { EngineTrust } from '@restante/service/engines'
import type { SASLOptions } from 'kafkajs'
import { type OAuthClient, TokenSource } from './token-source.ts'

/** What a client proves to the brokers. */
export type Credentials =
  | {
      readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
      readonly username: string
      readonly password: string
    }
  | ({ readonly mechanism: 'oauthbearer' } & OAuthClient)

/** Credentials as kafkajs takes them. The tokens of `oauthbearer` are shared by all connections. */
export function saslOptions(credentials: Credentials, trust: EngineTrust | undefined): SASLOptions {
  switch (credentials.mechanism) {
    case 'oauthbearer': {
      const tokens = new TokenSource(credentials, trust)
      return { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: await tokens.token() }) }
    }
    case 'plain':
      return { mechanism: 'plain', username: credentials.username, password: credentials.password }
    case 'scram-sha-256':
      return { mechanism: 'scram-sha-256', username: credentials.username, password: credentials.password }
    case 'scram-sha-512':
      return { mechanism: 'scram-sha-512', username: credentials.username, password: credentials.password }
  }
}
