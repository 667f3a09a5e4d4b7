/** Errors of merkle operations: invalid input, and stored blobs that do not match their root. */
import type { JsonFault } from '../platform/json-scanner.ts'
import { printable } from '../platform/printable.ts'

/** Maximum number of issues that an error stores; all issues are counted. */
export const MAX_ISSUES = 100

export interface MerkleIssue {
  /** `FILE:LINE:COLUMN` in a CSV, a dotted path (`entries.37.wallet`) in a JSON body, empty for the body as a whole. */
  position: string
  /** What is wrong and what to write instead; it never repeats text that could be a secret key. */
  message: string
}

/** An invalid recipient list: all issues are counted, and the first 100 are in `issues`. */
export class MerkleInputError extends Error {
  override readonly name = 'MerkleInputError'
  readonly issues: readonly MerkleIssue[]
  readonly issueCount: number
  /** Unknown columns that are all that is wrong, so that a person can decide; empty if anything else is. */
  readonly undecided: readonly string[]

  constructor(issues: readonly MerkleIssue[], issueCount = issues.length, undecided: readonly string[] = []) {
    const first = issues[0]
    const rest = issueCount > 1 ? ` (and ${issueCount - 1} more)` : ''
    super(first === undefined ? 'the recipient list is not valid' : `${issueLine(first)}${rest}`)
    this.issues = issues
    this.issueCount = issueCount
    this.undecided = undecided.length === issueCount ? undecided : []
  }
}

/** Stored leaves, index or head are truncated, altered or from another tree, because their hashes do not match. */
export class LeafLayoutError extends Error {
  override readonly name = 'LeafLayoutError'

  constructor(what: string) {
    super(`stored leaf layout mismatch: ${what}; build and store the tree again`)
  }
}

/** Formats one issue as a terminal line: `FILE:LINE:COLUMN: what`. */
export function issueLine(issue: MerkleIssue): string {
  return issue.position === '' ? issue.message : `${issue.position}: ${issue.message}`
}

/** Quotes input text for a message, cut to 60 characters and with control characters escaped. */
export function quoted(text: string): string {
  const cut = text.length > 60 ? `${text.slice(0, 60)}…` : text
  return printable(JSON.stringify(cut))
}

/** Throws for a text that is not JSON. */
export const refuseJson = ({ message }: JsonFault): never => refuseInput('', message)

/** Throws for a single fault of a list or a tree. */
export function refuseInput(position: string, message: string): never {
  throw new MerkleInputError([{ position, message }])
}
