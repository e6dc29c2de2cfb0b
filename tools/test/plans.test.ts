import pg from 'pg'
import { inScratchDatabase } from '../prisma/scratch.ts'
import { Planner } from '../statements/plans.ts'

const TABLES = `
create table parcels (id uuid primary key, street text not null, waiting boolean not null);
create index parcels_waiting on parcels (street, id) where waiting;
create table labels (id uuid primary key, parcel_id uuid not null);
create index labels_parcel on labels (parcel_id);
create table notes (text text not null);`

describe('the check of plans that are made while tables are empty', () => {
  const found = new Map<string, readonly string[]>()
  const statements = {
    'looks rows up by their keys': 'select * from parcels where id = any($1::uuid[])',
    'joins row by row': `select * from unnest($1::uuid[]) as wanted (id)
      cross join lateral (select * from parcels where id = wanted.id offset 0) as p`,
    'joins by an equality': `select * from parcels p join labels l on l.parcel_id = p.id where p.id = any($1::uuid[])`,
    'reads a table without an index for it': 'select * from notes where text = $1',
    'reads an index in its order up to a limit': 'select id from labels order by parcel_id limit $1',
    'reads on until enough rows fit': 'select id from labels where id <> $1 order by parcel_id limit 5',
    'reads all for a value beside a limit':
      'select (select max(street || id) from parcels where waiting) from labels where parcel_id = $1 limit 1',
  }

  beforeAll(() =>
    inScratchDatabase(async (url) => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query(TABLES)
      await client.end()
      const planner = await Planner.open(url)
      for (const [what, text] of Object.entries(statements)) found.set(what, await planner.readWhole(text))
      await planner.close()
    }),
  )

  it.each(['looks rows up by their keys', 'joins row by row', 'reads an index in its order up to a limit'])(
    'accepts one that %s',
    (what) => {
      expect(found.get(what)).toEqual([])
    },
  )

  it.each([
    'joins by an equality',
    'reads a table without an index for it',
    'reads on until enough rows fit',
    'reads all for a value beside a limit',
  ])('reports one that %s', (what) => {
    expect(found.get(what)).not.toEqual([])
  })
})
