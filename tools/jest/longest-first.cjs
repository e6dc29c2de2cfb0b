// CommonJS: the types of the base class describe its CommonJS form, and an import gets another one.
const Sequencer = require('@jest/test-sequencer').default

/** Files that take minutes, in this order: begun last, they would keep everybody waiting at the end of a run. */
const LONG = [/faults\/outages/, /test-e2e\/(faults|memory|restart)|mail-ingest\/test\/hostile\/process/]

/** On a machine that has not run the tests yet jest begins with the largest files, whatever they take. */
module.exports = class LongestFirst extends Sequencer {
  async sort(tests) {
    const rank = ({ path }) => {
      const place = LONG.findIndex((pattern) => pattern.test(path))
      return place < 0 ? LONG.length : place
    }
    return [...(await super.sort(tests))].sort((a, b) => rank(a) - rank(b))
  }
}
