/** What tests of services compare answers with; no service imports it. */
export * from './generate/access.ts'
