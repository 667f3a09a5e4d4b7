/** A mistake in what a list of recipients is made from: a file's text, or what its rule gives for a holder. */

export class AllocationFault extends Error {
  override readonly name = 'AllocationFault'
  /** Where it is in the file, from 1; absent for what no place in it is to blame for. */
  readonly at: { line: number; column: number } | undefined

  constructor(message: string, at?: { line: number; column: number }) {
    super(message)
    this.at = at
  }
}
