/** Fee claims, of one pool or of all. */
import { finding, inserting, listing } from './records.ts'

export const insertFeeClaim = inserting('fee_claims')
export const findFeeClaim = finding('fee_claims', 'id')
export const pageFeeClaims = listing('fee_claims', ['pool_address'])
