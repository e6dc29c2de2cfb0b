/** The client of a registry, which fetches packages of that registry. */
export type Client = 'cargo' | 'mvn' | 'pip' | 'apt-get'

/** A package that has mails in it, as its registry has published it. */
export interface Package {
  /** As the client names it; of Debian the source package. */
  readonly name: string
  readonly version: string
  readonly client: Client
  /** Of the published archive, in hex. */
  readonly sha256: string
}

/** The mails of a package. */
export interface Collection extends Package {
  /** Distinct mails, so that a change of the archive or of its reading is noticed. */
  readonly count: number
  /** Files that are one mail each. */
  readonly mails: RegExp
  /** Files that are mailboxes in the format mbox. */
  readonly mailboxes?: RegExp
}

/** The public collections of mails that package registries have. None is part of this repository. */
export const COLLECTIONS: readonly Collection[] = [
  {
    name: 'mail-parser',
    version: '1.0.1',
    client: 'cargo',
    sha256: '3d4ea9311ef3ca6189aa85c5f984bd47b2f12079bcabae28917d900ab26c9ecc',
    count: 207,
    mails: /\/resources\/(?:eml\/.*\.eml|maildir\/.*(?:cur|new)\/[^/]+)$/,
    mailboxes: /\/resources\/mbox\/[^/]+$/,
  },
  {
    name: 'mailparse',
    version: '0.18.0',
    client: 'cargo',
    sha256: '068d4f5d1083883b9e626051dc5bdaa321f5be01093e61ade3ee3ab44dafeadd',
    count: 2,
    mails: /\/tests\/files\/.*\.(?:eml|txt)$/,
  },
  {
    name: 'org.apache.james:apache-mime4j-core',
    version: '0.8.11',
    client: 'mvn',
    sha256: '4944b2a747627ce5c3a15df7ed5b15f24430da86a6ea51a389d3387270a54a7a',
    count: 76,
    mails: /testmsgs\/.*\.msg$/,
  },
  {
    name: 'org.apache.james.jdkim:apache-jdkim-library',
    version: '0.5',
    client: 'mvn',
    sha256: 'e9290b3562944aff0126096d3e097596901123095604adcff539f66c911af94b',
    count: 76,
    mails: /\/corpus\/.*\.(?:eml|txt)$/,
  },
  {
    name: 'flufl-bounce',
    version: '6.0.0',
    client: 'pip',
    sha256: 'a1df16b9d1877ae4536f7d76c00d8421fcefbe694f80f5285d05c45a2547b1bc',
    count: 117,
    mails: /\/tests\/data\/.*\.txt$/,
  },
  {
    name: 'mail-parser',
    version: '4.8.0',
    client: 'pip',
    sha256: '602e659b159652d378b0f9cce2d682bee692bedae72687786e2b2e52eaeb9afc',
    count: 22,
    mails: /\/tests\/mails\/mail_(?:test|malformed)_\d+$/,
  },
  {
    name: 'mailbits',
    version: '0.2.3',
    client: 'pip',
    sha256: '13140be94825d440986dee0a6e653d81d3b4df4b0059fbdb6d78ba8ccb0c4ec0',
    count: 12,
    mails: /\/test\/data\/emails\/.*\.eml$/,
    mailboxes: /\/test\/data\/mboxes\/.*\.mbox$/,
  },
  {
    name: 'dkimpy',
    version: '1.1.8',
    client: 'pip',
    sha256: 'b5f60fb47bbf5d8d762f134bcea0c388eba6b498342a682a21f1686545094b77',
    count: 11,
    mails: /\/dkim\/tests\/data\/.*(?:\.msg|\.message|\.mbox)$/,
  },
  {
    name: 'notmuch',
    version: '0.37',
    client: 'apt-get',
    sha256: '0e766df28b78bf4eb8235626ab1f52f04f1e366649325a8ce8d3c908602786f6',
    count: 281,
    mails: /\/test\/corpora\/.*\/[^/]+$/,
  },
  {
    name: 'rspamd',
    version: '3.4',
    client: 'apt-get',
    sha256: 'a7dad761aa6bbc666b7977dfd741b240bf02cff8779e088f17dbfa74d5429f8a',
    count: 127,
    mails: /\/functional\/messages\/.*\.eml$/,
  },
  {
    name: 'bogofilter',
    version: '1.2.5',
    client: 'apt-get',
    sha256: '3248a1373bff552c500834adbea4b6caee04224516ae581fb25a4c6a6dee89ea',
    count: 86,
    mails: /\/tests\/inputs\/(?:msg\.|mime-qp)[^/]*$/,
    mailboxes: /\/tests\/inputs\/.*\.mbx$/,
  },
  {
    name: 'python3.11',
    version: '3.11.2',
    client: 'apt-get',
    sha256: '2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849',
    count: 47,
    mails: /\/test\/test_email\/data\/msg_.*\.txt$/,
  },
]

/** Packages whose mails have published results of authentication, and are not collections. */
const VECTORS: readonly Package[] = [
  {
    name: 'mail-auth',
    version: '0.15.1',
    client: 'cargo',
    sha256: 'a3a38e106bc724fb87601fce70bef65c12498b19cdb320994330eae1080d035f',
  },
]

/** @throws Error for a name that no package here has. */
export function packageOf(name: string): Package {
  const found = [...COLLECTIONS, ...VECTORS].find((each) => each.name === name)
  if (found === undefined) throw new Error(`no package ${name}`)
  return found
}
