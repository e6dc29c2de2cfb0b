export {
  type OrmClient,
  OrmDatabase,
  type OrmDatabaseOptions,
  type OrmOf,
  type OrmTx,
} from './database/orm-database.ts'
