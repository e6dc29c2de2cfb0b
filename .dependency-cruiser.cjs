/**
 * The import rules of the repository (CONTRIBUTING.md). A service imports libs, never another service. A lib imports only
 * the libs before it in this list, so that each can be read and tested without the packages that depend on it.
 */
const libs = [
  'contracts',
  'service',
  'messaging',
  'jobs',
  'mime',
  'blobs',
  'virus-scan',
  'tenancy',
  'domains',
  'recurrence',
  'kit',
  'testkit',
]

const folderOf = (lib) => `^libs/${lib}/`

const escaped = (text) => text.replaceAll('.', '\\.')

/** The files that the `exports` of the libs' package.json name. */
const entries = libs.flatMap((lib) =>
  Object.values(require(`./libs/${lib}/package.json`).exports).map(
    (file) => `${folderOf(lib)}${escaped(file.slice(2))}$`,
  ),
)

const libRules = libs.map((lib, index) => ({
  name: `lib-order-${lib}`,
  comment: `${lib} imports only: ${libs.slice(0, index).join(', ') || 'no package of ours'}.`,
  severity: 'error',
  from: { path: folderOf(lib) },
  to: { path: `^(services|deploy|test-e2e|tools)/|^libs/(${libs.slice(index + 1).join('|') || '(?!)'})/` },
}))

/**
 * The files of a folder compose the folders inside it, which therefore do not import these files. There is a rule for each
 * depth, because `to` can only repeat what `from` has matched. `config.ts` of a service is exempt: the functions that open
 * capabilities take its type.
 */
const upwardRules = [0, 1, 2].map((depth) => ({
  name: `no-import-upwards-${depth}`,
  comment: 'The files of a folder compose the folders inside it, which therefore do not import these files.',
  severity: 'error',
  from: { path: `^((?:libs|services)/[^/]+/src/${'[^/]+/'.repeat(depth)})[^/]+/` },
  to: { path: '^$1[^/]+\\.ts$', pathNot: '^services/[^/]+/src/config\\.ts$' },
}))

module.exports = {
  forbidden: [
    ...libRules,
    ...upwardRules,
    {
      name: 'folders-in-order',
      comment:
        'The folders of a package are ordered: none imports a folder that imports it, directly or through others.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^((?:libs|services)/[^/]+)/src/' },
      to: { path: '^$1/src/', circular: true },
    },
    {
      name: 'service-imports-service',
      comment: 'A service talks to another over HTTP or Kafka, never by import.',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'service-imports-tools',
      comment: 'What runs in production does not depend on what develops it.',
      severity: 'error',
      from: { path: '^services/' },
      to: { path: '^(deploy|test-e2e|tools)/' },
    },
    {
      name: 'testkit-only-in-tests',
      comment: 'The testkit is for test suites.',
      severity: 'error',
      from: { path: '^(services|libs)/[^/]+/src/', pathNot: folderOf('testkit') },
      to: { path: folderOf('testkit') },
    },
    {
      name: 'source-imports-test',
      comment: 'Tests know the source, not the other way round.',
      severity: 'error',
      from: { path: '/src/' },
      to: { path: '^(libs|services)/[^/]+/test/' },
    },
    {
      name: 'front-door',
      comment: 'A package is imported through an entry that its package.json exports, so that its inside can change.',
      severity: 'error',
      from: { path: '^((?:libs|services|deploy)/[^/]+|test-e2e|tools)/' },
      to: { path: '^libs/', pathNot: ['^$1/', ...entries] },
    },
    {
      name: 'testing-for-tests',
      comment: 'What a lib offers for tests is no part of a running service.',
      severity: 'error',
      from: { pathNot: ['/test/', '^test-e2e/', '^libs/testkit/', '^libs/[^/]+/src/testing'] },
      to: { path: '^libs/[^/]+/src/testing' },
    },
    {
      name: 'kafkajs-behind-messaging',
      comment: 'Only libs/messaging speaks to Kafka, so that the client can be replaced.',
      severity: 'error',
      from: { pathNot: '^libs/(messaging|testkit)/' },
      to: { path: 'node_modules/kafkajs/' },
    },
    {
      name: 'orm-by-choice',
      comment: 'A process that uses no ORM does not load one: Prisma is reached through @restante/service/orm alone.',
      severity: 'error',
      from: {
        path: '^(libs|services)/[^/]+/src/',
        pathNot: ['^libs/service/src/database/orm-database\\.ts$', '/generated/'],
      },
      to: { path: 'node_modules/@prisma/' },
    },
    {
      name: 'bullmq-behind-jobs',
      comment: 'Only libs/jobs speaks to the queue.',
      severity: 'error',
      from: { pathNot: folderOf('jobs') },
      to: { path: 'node_modules/bullmq/' },
    },
    {
      name: 'no-circular',
      comment: 'Two files that need each other are one, or need a third.',
      severity: 'error',
      from: { pathNot: '/generated/' },
      to: { circular: true, pathNot: '/generated/' },
    },
    {
      name: 'not-resolvable',
      comment: 'An import of something that is not there, or not declared in package.json.',
      severity: 'error',
      from: { pathNot: '/generated/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // TypeScript 7 has no JavaScript API; swc reads the syntax instead, type-only imports included.
    parser: 'swc',
    doNotFollow: { path: ['node_modules', '/generated/'] },
    exclude: { path: ['/node_modules/\\.', '\\.restante/'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.cjs', '.js', '.json'],
    },
  },
}
