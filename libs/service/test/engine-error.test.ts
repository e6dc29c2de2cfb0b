import pg from 'pg'
import { EngineAccessError, explained } from '../src/engines/index.ts'

function databaseError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('role "mail" is not permitted to log in', 0, 'error'), { code })
}

describe('the explanation of a failed connection', () => {
  it.each(['28P01', '28000'])('names the credentials when PostgreSQL refuses them with %s', (code) => {
    const error = explained('PostgreSQL', false, databaseError(code))
    expect(error).toBeInstanceOf(EngineAccessError)
    expect(error.message).toContain('correct the user and password in DATABASE_URL')
  })

  it('does not take a port for a code', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:28000'), { code: 'ECONNREFUSED' })
    expect(explained('PostgreSQL', false, refused)).toBe(refused)
  })
})
