import pg from 'pg'
import type { Installation } from '../faults/harness/installation.ts'

const MAILS = 5

/** The promise of these tests themselves: a change of the schema that one release cannot work with does not pass. */
export function describeBrokenSchema(title: string, installationOf: () => Installation): void {
  it(title, async () => {
    const installation = installationOf()
    const client = new pg.Client({ connectionString: installation.engines.resources.databases['mail-ingest'] })
    await client.connect()
    try {
      await client.query('alter table messages rename column subject to title')
    } finally {
      await client.end()
    }
    await installation.source.send(MAILS, MAILS)
    // The mail is missing, or the list of messages in which it is looked up fails.
    await expect(installation.expectEverything()).rejects.toThrow(/notStored|internal_error/)
  }, 300_000)
}
