import { UPGRADE } from '../../definition/operation.ts'
import { OPERATION_GROUPS } from '../../operations/groups.ts'
import { errorCodesOf } from '../../operations/table.ts'
import { ERRORS, type ErrorCode, type ErrorDefinition } from '../../vocabulary/errors.ts'
import { anchor, NOTICE, page, plain } from '../parts/markdown.ts'
import { ERROR_HELP } from './error-help.ts'

/** The page that the `docs` member of every error links to, with one section per code. */
export function errorsPage(): string {
  const codes = Object.keys(ERROR_HELP).filter(isCode)
  return page([
    '# Errors',
    NOTICE,
    'Branch on `code`; `name` is older and less exact. `fix`, where an error has it, says what to do next. The header `x-should-retry` says whether the same request can succeed later.',
    ...codes.map(section),
  ])
}

function isCode(name: string): name is ErrorCode {
  return Object.hasOwn(ERRORS, name)
}

function section(code: ErrorCode): string {
  const { status, name, retry, message, fix }: ErrorDefinition = ERRORS[code]
  const { meaning, remedy = plain(fix ?? '') } = ERROR_HELP[code]
  const again = retry === undefined ? 'after a wait' : retry ? 'yes' : 'no'
  return page([
    `## \`${code}\``,
    `${status} \`${name}\`: ${message}. Retry: ${again}.`,
    `**Meaning.** ${meaning}`,
    `**What to do.** ${remedy}`,
    `**Answered by** ${answeredBy(code)}`,
  ]).trimEnd()
}

const ALL = OPERATION_GROUPS.flatMap((group) => group.operations.map((operation) => ({ group, operation }))).filter(
  ({ operation }) => operation.response !== UPGRADE,
)

function answeredBy(code: ErrorCode): string {
  const having = ALL.filter(({ operation }) => errorCodesOf(operation).includes(code))
  if (having.length === ALL.length) return 'every operation.'
  const keyed = ALL.filter(({ operation }) => operation.authentication === 'key')
  if (having.length === keyed.length && keyed.every((each) => having.includes(each))) {
    return 'every operation that needs an API key.'
  }
  if (having.length === 0) return 'no operation of this version by itself.'
  return `${having.map(({ group, operation }) => `[\`${operation.id}\`](api/${group.page}.md#${anchor(operation.id)})`).join(', ')}.`
}
