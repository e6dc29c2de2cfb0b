import { types } from 'node:util'
import { z } from 'zod'

/** Errors of Node's own modules may come from another realm, where `instanceof` fails. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value)
}

/** The code that an error has itself: of Node, of `pg` (an SQLSTATE), of Prisma. */
export function codeOf(error: object): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Where Prisma keeps PostgreSQL's own code when it has no code of its own for the error (P2010, P2039). */
const prismaError = z.object({
  meta: z.object({ driverAdapterError: z.object({ cause: z.object({ originalCode: z.string() }) }) }),
})

/** PostgreSQL's code inside an error of Prisma. */
export function sqlStateOf(error: object): string | undefined {
  return prismaError.safeParse(error).data?.meta.driverAdapterError.cause.originalCode
}
