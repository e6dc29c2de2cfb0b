// CommonJS: the types of the base class describe its CommonJS form, and an import gets another one.
const Sequencer = require('@jest/test-sequencer').default

/** Files that wait for minutes: begun last, they would keep everybody waiting at the end of a run. */
const LONG = /test-e2e\/(faults\/|own-system)|mail-ingest\/test\/hostile\/process|mime\/test\/hostile|sender-judge/

/** On a machine that has not run the tests yet jest begins with the largest files, whatever they take. */
module.exports = class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = [...(await super.sort(tests))]
    return [...sorted.filter(({ path }) => LONG.test(path)), ...sorted.filter(({ path }) => !LONG.test(path))]
  }
}
