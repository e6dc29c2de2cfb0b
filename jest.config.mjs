/** One configuration for every package: ES modules, transformed by swc, on real engines. */
export default {
  rootDir: import.meta.dirname,
  testMatch: ['<rootDir>/{libs,services,deploy}/*/test/**/*.test.ts', '<rootDir>/{test-e2e,tools}/**/*.test.ts'],
  globalSetup: '<rootDir>/test-e2e/stack/setup.ts',
  globalTeardown: '<rootDir>/test-e2e/stack/teardown.ts',
  testSequencer: '<rootDir>/tools/jest/longest-first.cjs',
  // What a worker keeps of the files that it has run is given back by a new one.
  workerIdleMemoryLimit: '1GB',
  reporters: ['default', '<rootDir>/tools/jest/totals.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/.restante'],
  testTimeout: 30_000,
}
