import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'

/** Expands each rule within the window and sorts the instants, as an agenda does. */
const PROGRAM = `
import json, sys, time
from datetime import datetime
from dateutil.rrule import rrulestr
given = json.load(sys.stdin)
after, before = (datetime.fromisoformat(given[name]) for name in ("after", "before"))
began = time.perf_counter()
dates = []
for each in given["series"]:
    rule = rrulestr(each["rule"], dtstart=datetime.fromisoformat(each["start"]))
    dates.extend(rule.between(after, before, inc=True))
dates.sort()
print(json.dumps({"ms": (time.perf_counter() - began) * 1000, "dates": len(dates)}))
`

export interface ExpandedSeries {
  readonly rule: string
  /** In UTC, without an offset. */
  readonly start: string
}

const result = z.object({ ms: z.number(), dates: z.int() })

/** What python-dateutil takes to expand series within a window. @returns undefined where it is not installed. */
export async function dateutilTime(
  series: readonly ExpandedSeries[],
  window: { readonly after: string; readonly before: string },
): Promise<z.infer<typeof result> | undefined> {
  const running = promisify(execFile)('/usr/bin/python3', ['-c', PROGRAM])
  running.child.stdin?.end(JSON.stringify({ series, ...window }))
  try {
    return result.parse(JSON.parse((await running).stdout))
  } catch {
    return undefined
  }
}
