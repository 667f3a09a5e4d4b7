/** The text that a person signs to approve or to reject a proposal: one line of printable ASCII, as a device shows it. */

interface DecidedProposal {
  id: string
  /** The act in one sentence. */
  what: string
  /** SHA-256 in hex of the message with a zero blockhash. */
  message_sha256: string
  /** Genesis hash of the cluster. */
  genesis: string
  /** Unix milliseconds. */
  expires_at: number
}

/** The longest sentence about an act, so that the whole text fits into what a device signs. */
export const MOST_WHAT = 480

const VERBS = { approved: 'approve', rejected: 'reject' } as const

/** Returns the text. It begins with no transaction, so its signature can move nothing. */
export const decisionText = (
  decision: keyof typeof VERBS,
  { id, what, message_sha256, genesis, expires_at }: DecidedProposal,
): string =>
  [
    `svc: ${VERBS[decision]} this act`,
    plainText(what),
    `proposal ${id}`,
    `message sha256 ${message_sha256}`,
    `cluster ${genesis}`,
    `until ${new Date(expires_at).toISOString()}`,
  ].join(' | ')

/** Returns at most `most` characters of printable ASCII; every other character, and the separator, becomes `?`. */
export const plainText = (text: string, most = MOST_WHAT): string => {
  const plain = text.replace(/[^\x20-\x7b\x7d\x7e]/gu, '?')
  return plain.length <= most ? plain : `${plain.slice(0, most - 3)}...`
}
