import { Database } from '@restante/service'

/** A database of a service, for programs that have no use for its Prisma client. */
export function openBareDatabase(url: string): Database {
  return Database.open({
    url,
    applicationName: 'bench',
    orm: () => ({ $disconnect: async () => undefined }),
    begin: () => Promise.reject(new Error('this program has no Prisma client')),
  })
}
