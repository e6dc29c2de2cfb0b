import { conclude, type Findings, type SignatureFinding, shownSignature } from '../../src/sender/judgement/findings.ts'

const signature = (more: Partial<SignatureFinding> = {}): SignatureFinding => ({
  result: 'pass',
  alignment: 'exact',
  covers: true,
  ...more,
})
const findings = (more: Partial<Findings>): Findings => ({
  authorDomain: 'x.test',
  spf: { result: 'none', alignment: 'none' },
  signatures: [],
  dmarc: { result: 'none', policy: undefined, passesUncovered: false },
  arc: { result: 'none', vouches: false, covers: false },
  ...more,
})
const dmarc = (result: Findings['dmarc']['result'], more: Partial<Findings['dmarc']> = {}) => ({
  dmarc: { result, policy: 'reject', passesUncovered: false, ...more },
})
const spf = (result: Findings['spf']['result'], alignment: Findings['spf']['alignment']) => ({
  spf: { result, alignment },
})
const vouched = { arc: { result: 'pass', vouches: true, covers: true } } as const
const vouchedUncovered = { arc: { result: 'pass', vouches: true, covers: false } } as const

describe('the verdict on a sender', () => {
  it.each<[string, Partial<Findings>]>([
    ['DMARC passes with a signature', { ...dmarc('pass'), signatures: [signature({ alignment: 'relaxed' })] }],
    ['DMARC passes with SPF', { ...dmarc('pass'), ...spf('pass', 'relaxed') }],
    ['an aligned signature passes and there is no policy', { signatures: [signature({ alignment: 'relaxed' })] }],
    ['aligned SPF passes and there is no policy', spf('pass', 'relaxed')],
    ['the policy is not known, and the very domain passed', { ...dmarc('temperror'), ...spf('pass', 'exact') }],
    [
      'DMARC passes, whatever else failed for the moment',
      { ...dmarc('pass'), ...spf('temperror', 'exact'), signatures: [signature()] },
    ],
    ['DMARC fails and a trusted forwarder vouches', { ...dmarc('fail'), ...vouched }],
  ])('is pass when %s', (_why, given) => {
    expect(conclude(findings(given))).toEqual({ verdict: 'pass', discard: false, temporary: false })
  })

  it.each<[string, Partial<Findings>]>([
    ['there is no single author', { authorDomain: undefined, ...dmarc('pass'), ...spf('pass', 'exact') }],
    [
      'DMARC passes for a sibling below a public suffix',
      { ...dmarc('pass'), signatures: [signature({ alignment: 'none' })] },
    ],
    [
      'DMARC passes and the aligned signature does not cover the mail',
      { ...dmarc('pass'), signatures: [signature({ covers: false })] },
    ],
    ['nothing is aligned', { ...spf('pass', 'none'), signatures: [signature({ alignment: 'none' })] }],
    ['the only signature does not cover the mail', { signatures: [signature({ covers: false })] }],
    ['the servers of another domain fail', { ...spf('temperror', 'none') }],
  ])('is none when %s', (_why, given) => {
    expect(conclude(findings(given))).toEqual({ verdict: 'none', discard: false, temporary: false })
  })

  it.each<[string, Partial<Findings>]>([
    ['the policy is not known', dmarc('temperror')],
    [
      'the policy is not known, and a relative of the domain passed',
      { ...dmarc('temperror'), ...spf('pass', 'relaxed') },
    ],
    ['the key of an aligned signature', { ...dmarc('fail'), signatures: [signature({ result: 'temperror' })] }],
    ['SPF of an aligned return path', { ...dmarc('fail'), ...spf('temperror', 'relaxed') }],
    ['SPF of an aligned return path, without a policy', spf('temperror', 'exact')],
  ])('waits for an answer: %s', (_what, given) => {
    expect(conclude(findings(given))).toEqual({ verdict: 'none', discard: false, temporary: true })
  })

  it.each<[string, boolean, Partial<Findings>]>([
    ['is discarded under reject', true, dmarc('fail')],
    ['is discarded under quarantine', true, dmarc('fail', { policy: 'quarantine' })],
    ['is stored under none', false, dmarc('fail', { policy: 'none' })],
    [
      'is discarded when another signer does not answer',
      true,
      { ...dmarc('fail'), signatures: [signature({ result: 'temperror', alignment: 'none' })] },
    ],
    [
      'is stored when a signature would have passed that does not cover it',
      false,
      dmarc('fail', { passesUncovered: true }),
    ],
    [
      'is stored when a forwarder would have vouched for what it does not cover',
      false,
      { ...dmarc('fail'), ...vouchedUncovered },
    ],
  ])('for a failing mail %s', (_what, discard, given) => {
    expect(conclude(findings(given))).toEqual({ verdict: 'fail', discard, temporary: false })
  })
})

describe('the signature that is shown', () => {
  it.each<[string, readonly SignatureFinding[], string]>([
    ['none', [], 'none'],
    ['the aligned one', [signature({ alignment: 'none' }), signature({ result: 'fail' })], 'fail'],
    [
      'the best, where none is aligned',
      [signature({ result: 'fail', alignment: 'none' }), signature({ alignment: 'none' })],
      'pass',
    ],
    ['one that does not cover the mail as not accepted', [signature({ covers: false })], 'policy'],
  ])('is %s', (_what, signatures, shown) => {
    expect(shownSignature(signatures)).toBe(shown)
  })
})
