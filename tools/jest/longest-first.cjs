// CommonJS, because the types of the base class describe its CommonJS form, which an import does not return.
const Sequencer = require('@jest/test-sequencer').default
const { sharesSystem } = require('./shared-system.ts')

/** Files that wait for minutes. Started last, they would extend the whole run. */
const LONG = /test-e2e\/(faults\/|own-system)|mail-ingest\/test\/hostile\/process|mime\/test\/hostile|sender-judge/

/** They run after all others, beside files that only calculate: there is nothing to gain from an early end of the system. */
const ALONE = /\.alone\.test\.ts$/

/** On a machine that has not run the tests yet, jest starts with the largest files, whatever their duration. */
module.exports = class LongestFirst extends Sequencer {
  async sort(tests) {
    const rank = ({ path }) => (ALONE.test(path) || sharesSystem(path) ? 0 : LONG.test(path) ? 1 : 2)
    const ranked = [...(await super.sort(tests))].map((test) => ({ test, rank: rank(test) }))
    // Sorting is stable: within a rank the order of the base class stays.
    return ranked.sort((a, b) => a.rank - b.rank).map(({ test }) => test)
  }
}
