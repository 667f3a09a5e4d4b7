/** The two ways merkle work fails: input that has to be corrected, and stored blobs that do not fit their root. */

/** How many issues an error keeps; all of them are counted. */
export const MAX_ISSUES = 100

export interface MerkleIssue {
  /** `FILE:LINE:COLUMN` in a CSV, a dotted path (`entries.37.wallet`) in a JSON body, empty for the body as a whole. */
  position: string
  /** What is wrong and what to write instead; never echoes text that could be a secret key. */
  message: string
}

/** A recipient list that cannot be used as it is: every fault is counted, the first 100 are kept in `issues`. */
export class MerkleInputError extends Error {
  override readonly name = 'MerkleInputError'
  readonly issues: readonly MerkleIssue[]
  readonly issueCount: number

  constructor(issues: readonly MerkleIssue[], issueCount = issues.length) {
    const first = issues[0]
    const rest = issueCount > 1 ? ` (and ${issueCount - 1} more)` : ''
    super(first === undefined ? 'the recipient list is not valid' : `${issueLine(first)}${rest}`)
    this.issues = issues
    this.issueCount = issueCount
  }
}

/** Stored leaves, index or head are cut, altered or of another tree: what they hash to is not what was stored. */
export class LeafLayoutError extends Error {
  override readonly name = 'LeafLayoutError'

  constructor(what: string) {
    super(`stored leaf layout mismatch: ${what}; build and store the tree again`)
  }
}

/** One issue as a terminal line: `FILE:LINE:COLUMN: what`. */
export function issueLine(issue: MerkleIssue): string {
  return issue.position === '' ? issue.message : `${issue.position}: ${issue.message}`
}

/** Input text for a message: cut to 60 characters, control characters escaped. */
export function quoted(text: string): string {
  const cut = text.length > 60 ? `${text.slice(0, 60)}…` : text
  return JSON.stringify(cut).replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
