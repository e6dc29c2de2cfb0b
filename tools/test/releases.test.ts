import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { VERSION } from '@restante/contracts/vocabulary'
import { z } from 'zod'
import { brokenPromises, newlyRequired, wrongMigrations } from '../releases/compare.ts'
import { unjustified } from '../releases/findings.ts'
import { promisesOf } from '../releases/promises.ts'
import { lastRelease, type Release, recordedReleases } from '../releases/releases.ts'
import { changesOf } from '../releases/schema-changes.ts'

const root = resolve(import.meta.dirname, '../..')
const releases = await recordedReleases()
const last = await lastRelease()

describe('this release, beside the last one', () => {
  it.each(Object.keys(last.migrations))(
    'keeps every released migration of %s, and adds only what both work with',
    async (name) => {
      expect(await wrongMigrations(root, name, releases)).toEqual([])
    },
  )

  it('keeps the topics, their partitions and events, and the operations between services', async () => {
    expect(brokenPromises(last, await promisesOf(root))).toEqual([])
  })

  it('changes no setting of a topic of 0.1.0, whose services are ready only on topics that are exactly its own', async () => {
    if (last.version !== '0.1.0') return
    const { topics } = await promisesOf(root)
    for (const [name, { config }] of Object.entries(last.topics)) expect(topics[name]?.config).toEqual(config)
  })

  it('names in docs/releases.md each variable that it requires and the last one does not', async () => {
    const page = await readFile(join(root, 'docs/releases.md'), 'utf8')
    const section = page.split(/^## /m).find((part) => part.startsWith(`${VERSION}\n`)) ?? ''
    expect(section).not.toBe('')
    const unnamed = newlyRequired(last, await promisesOf(root)).filter((entry) => {
      const [service = '', name = ''] = entry.split(': ')
      return !section.includes(`\`${name}\` of ${service.replace('services/', '')}`)
    })
    expect(unnamed).toEqual([])
  })

  it('has one version everywhere', async () => {
    const parents = ['libs', 'services', 'deploy', '.']
    const folders = await Promise.all(
      parents.map(async (parent) => (await readdir(join(root, parent))).map((name) => join(parent, name))),
    )
    const manifest = z.object({ version: z.string() })
    for (const folder of ['.', ...folders.flat()]) {
      const text = await readFile(join(root, folder, 'package.json'), 'utf8').catch(() => undefined)
      if (text !== undefined)
        expect({ folder, ...manifest.parse(JSON.parse(text)) }).toEqual({ folder, version: VERSION })
    }
    const chart = await readFile(join(root, 'helm/restante/Chart.yaml'), 'utf8').catch(() => undefined)
    const versions = chart?.match(/^(version|appVersion): .*$/gm) ?? []
    for (const line of versions) expect(line).toContain(VERSION)
  })
})

describe('the check of migrations', () => {
  const problemsOf = async (text: string) => unjustified(text, await changesOf(text, new Set()), releases)

  it.each([
    ['a nullable column', 'alter table sends add column note text;'],
    ['a column with a constant default', "alter table sends add column note text not null default 'none';"],
    [
      'a column with the same time in every row',
      'alter table sends add column noted timestamptz not null default now();',
    ],
    ['a default of a column', "alter table sends alter column note set default 'none';"],
    [
      'a table with indexes and constraints',
      'create table notes (id int); create unique index notes_id on notes (id); alter table notes add check (id > 0), alter column id set not null; alter table notes rename column id to uid; update notes set uid = 1; drop table notes;',
    ],
    [
      'an index built concurrently',
      '-- outside a transaction\ndrop index concurrently if exists sends_note;\ncreate index concurrently sends_note on sends (note);',
    ],
    ['a value of a type', "alter type state add value 'held';"],
    [
      'a trigger that writes two columns',
      'create function twice() returns trigger language plpgsql as $$ begin return new; end $$; create trigger twice before insert on sends for each row execute function twice();',
    ],
  ])('accepts %s', async (_what, text) => {
    expect(await problemsOf(text)).toEqual([])
  })

  it.each([
    ['a renamed column', 'alter table sends rename column note to notes;', 'renames something to notes'],
    ['a renamed table', 'alter table sends rename to sent;', 'renames something to sent'],
    ['a renamed index', 'alter index sends_note rename to sent_note;', 'renames something to sent_note'],
    ['a renamed value', "alter type state rename value 'held' to 'kept';", 'renames the value held'],
    ['another type', 'alter table sends alter column note type varchar(9);', 'changes the type of sends.note in place'],
    [
      'a column that must be given',
      'alter table sends add column note text not null;',
      'not null and without a default',
    ],
    [
      'a default that differs from row to row',
      'alter table sends add column note uuid default gen_random_uuid();',
      'rewrites sends',
    ],
    ['a sequence', 'alter table sends add column note bigserial;', 'rewrites sends'],
    ['a dropped column', 'alter table sends drop column note;', 'drops the column sends.note'],
    ['a dropped table', 'drop table sends;', 'drops the table sends'],
    ['a dropped type', 'drop type state;', 'drops the type state'],
    ['a dropped index', 'drop index sends_note;', 'drops the index sends_note'],
    ['a dropped default', 'alter table sends alter column note drop default;', 'takes the default from sends.note'],
    ['a dropped constraint', 'alter table sends drop constraint sends_key;', 'drops the constraint sends_key'],
    ['null where there was none', 'alter table sends alter column note drop not null;', 'allows null in sends.note'],
    ['no null where there was', 'alter table sends alter column note set not null;', 'forbids null in sends.note'],
    ['a check', "alter table sends add check (note <> '');", 'restricts what may be in sends'],
    ['a unique index', 'create unique index sends_note on sends (note);', 'by the unique index sends_note'],
    ['an index under a lock', 'create index sends_note on sends (note);', 'while nothing can be written to sends'],
    ['rows rewritten at once', "update sends set note = '';", 'rewrites rows of sends in one transaction'],
    ['deleted rows', 'delete from sends;', 'deletes rows of sends'],
    [
      'a replaced function',
      'create or replace function f() returns int language sql as $$ select 1 $$;',
      'replaces the function f',
    ],
    [
      'a concurrent index inside a transaction',
      'create index concurrently sends_note on sends (note);',
      '"-- outside a transaction" is its first line',
    ],
    [
      'a concurrent index that cannot be repeated',
      '-- outside a transaction\ncreate index concurrently sends_note on sends (note);',
      'drop index concurrently if exists sends_note',
    ],
    [
      'a column outside a transaction',
      '-- outside a transaction\nalter table sends add column note text;',
      'a crash would leave half of it',
    ],
    ['what no rule judges', "do $$ begin execute 'drop table sends'; end $$;", 'has a DoStmt, which no rule judges'],
    ['what no rule of tables judges', 'alter table sends set unlogged;', 'AT_SetUnLogged'],
  ])('refuses %s', async (_what, text, problem) => {
    expect((await problemsOf(text)).join('\n')).toContain(problem)
  })

  it('accepts that something goes which a release stopped using, if that one is released', async () => {
    const text = (release: string) =>
      `-- unused since ${release}: no statement names it\nalter table sends drop column note;`
    expect(await problemsOf(text(last.version))).toEqual([])
    expect((await problemsOf(text(VERSION))).join()).toContain(`${VERSION} is not released`)
  })

  it('accepts a lock on a table that is small', async () => {
    const text = '-- small table: one row for each organization\ncreate index sends_note on sends (note);'
    expect(await problemsOf(text)).toEqual([])
  })

  it('refuses that a released migration is edited or removed, and a new one that is older than a released one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'restante-releases-'))
    try {
      const write = async (name: string, text: string) => {
        await mkdir(join(folder, 'libs/box/migrations', name), { recursive: true })
        await writeFile(join(folder, 'libs/box/migrations', name, 'migration.sql'), text)
      }
      await write('20260101000000_init', 'create table boxes (id int)')
      await write('20260102000000_edited', 'select 1')
      await write('20260103000000_late', 'alter table boxes add column width int')
      await write('20260105000000_breaking', 'alter table boxes rename column id to uid')
      const checksum = (await promisesOf(root)).migrations['libs/jobs']?.['20261122180000_init'] ?? ''
      const released = { '20260102000000_edited': checksum, '20260104000000_gone': checksum }
      const release: Release = { ...last, migrations: { 'libs/box': released } }
      expect(await wrongMigrations(folder, 'libs/box', [release])).toEqual([
        'libs/box: 20260102000000_edited is released, and was edited or removed',
        'libs/box: 20260104000000_gone is released, and was edited or removed',
        'libs/box: 20260101000000_init is older than 20260104000000_gone, which is released: give it a later time',
        'libs/box: 20260103000000_late is older than 20260104000000_gone, which is released: give it a later time',
      ])
      const init = createHash('sha256').update('create table boxes (id int)').digest('hex')
      const before: Release = { ...last, migrations: { 'libs/box': { '20260101000000_init': init } } }
      expect(await wrongMigrations(folder, 'libs/box', [before])).toEqual([
        'libs/box: 20260105000000_breaking renames something to uid',
      ])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('refuses a topic, an event or an operation that is gone, and names what is newly required', async () => {
    const now = await promisesOf(root)
    const { tenancy: _gone, ...topics } = now.topics
    const [first = '', ...internal] = now.internal
    expect(brokenPromises(now, { ...now, topics, internal })).toEqual([
      'the topic tenancy is gone',
      `the internal operation ${first} is gone`,
    ])
    const required = {
      ...now.required,
      'services/gateway': [...(now.required['services/gateway'] ?? []), 'NEW_SECRET'],
    }
    expect(newlyRequired(now, { ...now, required })).toEqual(['services/gateway: NEW_SECRET'])
  })
})
