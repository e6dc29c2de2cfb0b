export { observeStatements } from './database/statement.ts'
