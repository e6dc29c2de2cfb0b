import { ODD_CHARSETS, ODD_TRANSFERS, ODD_WORDS } from './encodings.ts'
import { ODD_CONTENTS, ODD_NAMES } from './files.ts'
import { ODD_ADDRESSES, ODD_HEADERS, ODD_IDS } from './headers.ts'
import type { OddMail } from './odd-mail.ts'
import { ODD_STRUCTURES } from './structure.ts'
import { ODD_MAILS_WITHIN, ODD_TYPES } from './types.ts'

/** Every odd mail. Those that want too much of whoever reads them are the hostile mails. */
export const ODD_MAILS: readonly OddMail[] = [
  ...ODD_HEADERS,
  ...ODD_ADDRESSES,
  ...ODD_IDS,
  ...ODD_WORDS,
  ...ODD_CHARSETS,
  ...ODD_TRANSFERS,
  ...ODD_STRUCTURES,
  ...ODD_NAMES,
  ...ODD_CONTENTS,
  ...ODD_MAILS_WITHIN,
  ...ODD_TYPES,
]
