import { readdir } from 'node:fs/promises'
import path from 'node:path'
import {
  type Dashboard,
  type Panel,
  readDashboards,
  readSqlDashboards,
  type SqlDashboard,
  shown,
} from './dashboards.ts'

const DATASOURCE = { type: 'prometheus', uid: '$' + '{datasource}' }
const COLUMNS = 24

describe('every dashboard', () => {
  let dashboards: readonly Dashboard[]
  let sqlDashboards: readonly SqlDashboard[]
  beforeAll(async () => {
    dashboards = await readDashboards()
    sqlDashboards = await readSqlDashboards()
  })

  /** `of` of each panel that it objects to, as `dashboard: panel`. */
  const panelsWhere = (isWrong: (panel: Panel) => boolean) =>
    dashboards.flatMap((each) =>
      shown(each)
        .filter(isWrong)
        .map(({ title }) => `${each.title}: ${title}`),
    )

  it('answers first whether it keeps up, in tiles', () => {
    for (const { panels } of dashboards) {
      expect(panels[0]?.title).toMatch(/^Is (it keeping up|mail flowing)\?$/)
      expect(panels[1]?.type).toBe('stat')
    }
  })

  it('says on each panel what it shows and what good looks like, and in which unit', () => {
    expect(panelsWhere(({ description = '' }) => description.length < 30)).toEqual([])
    expect(panelsWhere(({ fieldConfig }) => fieldConfig?.defaults.unit === undefined)).toEqual([])
    // A graph may only name its lines; a tile has one number, which is good or not.
    expect(
      panelsWhere(({ type, description = '' }) => type === 'stat' && !/Good:|It depends/.test(description)),
    ).toEqual([])
  })

  it('reads from the data source that its reader chooses, in the namespaces that he chooses', () => {
    for (const { templating } of dashboards) {
      const [datasource, ...others] = templating.list
      expect([datasource?.type, others[0]?.name]).toEqual(['datasource', 'namespace'])
      for (const variable of others) expect(variable.datasource).toEqual(DATASOURCE)
    }
    expect(
      panelsWhere(({ datasource, targets }) =>
        [datasource, ...targets.map((target) => target.datasource)].some(
          (each) => JSON.stringify(each) !== JSON.stringify(DATASOURCE),
        ),
      ),
    ).toEqual([])
    expect(panelsWhere(({ targets }) => targets.some(({ expr }) => !expr.includes('namespace=~"$namespace"')))).toEqual(
      [],
    )
  })

  it('reads, where it is about an organization, from the database that its reader chooses, by the id that he types', () => {
    expect(sqlDashboards.map(({ uid }) => uid)).toEqual(['restante-organization'])
    const database = { type: 'grafana-postgresql-datasource', uid: '$' + '{database}' }
    for (const { templating, panels } of sqlDashboards) {
      expect(templating.list.map(({ type, name }) => [type, name])).toEqual([
        ['datasource', 'database'],
        ['textbox', 'organization'],
      ])
      for (const { title, datasource, description = '', fieldConfig, targets } of shown({ panels })) {
        expect([title, datasource, ...targets.map((target) => target.datasource)]).toEqual([title, database, database])
        expect([title, description.length > 30, fieldConfig?.defaults.unit !== undefined]).toEqual([title, true, true])
        expect(targets.every(({ rawSql }) => rawSql.includes('{organization:sqlstring}::uuid'))).toBe(true)
      }
    }
  })

  it('links to runbooks that exist', async () => {
    const runbooks = new Set(await readdir(path.resolve(import.meta.dirname, '../../../docs/runbooks')))
    expect(panelsWhere(({ links }) => links.some(({ url }) => !runbooks.has(path.basename(url))))).toEqual([])
  })

  it('has an identity of its own, and panels that do not overlap', () => {
    const all = [...dashboards, ...sqlDashboards]
    expect(new Set(all.map(({ uid }) => uid)).size).toBe(all.length)
    for (const { title, panels } of all) {
      const taken = new Set<string>()
      for (const { gridPos } of panels) {
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(COLUMNS)
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
            expect([title, taken.has(`${x} ${y}`)]).toEqual([title, false])
            taken.add(`${x} ${y}`)
          }
        }
      }
    }
  })
})
