import { env } from '@restante/service/configuration'
import { clamdAddress } from '@restante/virus-scan'
import { z } from 'zod'

/** Together with waiting for its turn and a probe, a scan has to end before the lease of its mail does. */
const LONGEST_SCAN_MS = 30_000

const clamdUrl = z.string().transform((text, context) => {
  const address = clamdAddress(text)
  if (address !== undefined) return address
  context.addIssue({ code: 'custom', message: 'must be tcp://host:port or unix:///path' })
  return z.NEVER
})

/** The virus scanner of received and of outgoing mail. */
export const clamdVariables = {
  variables: z.object({
    CLAMD_URL: clamdUrl
      .optional()
      .describe(
        'clamd that scans mail for viruses, tcp://host:port or unix:///path; mail-ingest has received mail scanned, mail-send outgoing mail; without it no mail is scanned; its StreamMaxLength should be at least 40M',
      ),
    CLAMD_TIMEOUT: env
      .duration('20s')
      .refine((ms) => ms <= LONGEST_SCAN_MS, 'must be at most 30s')
      .describe('Time limit for the scan of one mail, at most 30s'),
  }),
  configure: (given: { CLAMD_URL?: z.output<typeof clamdUrl> | undefined; CLAMD_TIMEOUT: number }) => ({
    clamd: given.CLAMD_URL && { clamd: given.CLAMD_URL, timeoutMs: given.CLAMD_TIMEOUT },
  }),
}
