/** One configuration for every package: the sources as Node runs them, on real engines. */
export default {
  rootDir: import.meta.dirname,
  testMatch: [
    '<rootDir>/{libs,services,deploy}/*/test/**/*.test.ts',
    '<rootDir>/{test-e2e,tools}/**/*.test.ts',
    // They need more programs: `npm run test:chart`.
    '!**/*.chart.test.ts',
  ],
  globalSetup: '<rootDir>/test-e2e/stack/setup.ts',
  globalTeardown: '<rootDir>/test-e2e/stack/teardown.ts',
  testRunner: '<rootDir>/tools/jest/native-runner.ts',
  testSequencer: '<rootDir>/tools/jest/longest-first.cjs',
  dependencyExtractor: '<rootDir>/tools/jest/dependencies.ts',
  // A worker keeps the modules of its files in memory; above this size it is replaced.
  workerIdleMemoryLimit: '1GB',
  reporters: [
    'default',
    '<rootDir>/tools/jest/report.ts',
    '<rootDir>/test-e2e/stack/error-reporter.ts',
    '<rootDir>/test-e2e/stack/reporter.ts',
  ],
  transform: {},
  modulePathIgnorePatterns: ['<rootDir>/.restante'],
  // Against a hang, not for speed: benchmarks measure that.
  testTimeout: 300_000,
}
