/** A mistake in the input of a list of recipients: in a file's text, or in the result of a rule for a holder. */

export class AllocationFault extends Error {
  override readonly name = 'AllocationFault'
  /** Its place in the file, from 1; absent if no place in the file causes it. */
  readonly at: { line: number; column: number } | undefined

  constructor(message: string, at?: { line: number; column: number }) {
    super(message)
    this.at = at
  }
}
