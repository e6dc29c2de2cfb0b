// CommonJS, because the types of the base class describe its CommonJS form, which an import does not return.
const Sequencer = require('@jest/test-sequencer').default

/** Files that wait for minutes. Started last, they would extend the whole run. */
const LONG = /test-e2e\/(faults\/|own-system)|mail-ingest\/test\/hostile\/process|mime\/test\/hostile|sender-judge/

/** On a machine that has not run the tests yet, jest starts with the largest files, whatever their duration. */
module.exports = class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = [...(await super.sort(tests))]
    return [...sorted.filter(({ path }) => LONG.test(path)), ...sorted.filter(({ path }) => !LONG.test(path))]
  }
}
