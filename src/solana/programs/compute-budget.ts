/** Instructions of the Compute Budget program that determine the priority fee, and the heap of programs. */
import { COMPUTE_BUDGET_PROGRAM } from '../program-ids.ts'
import { programTable } from './table.ts'

export const COMPUTE_BUDGET = programTable(COMPUTE_BUDGET_PROGRAM, {
  instructions: {
    /** Memory of each program. */
    requestHeapFrame: ['01', '', 'bytes:u32'],
    setComputeUnitLimit: ['02', '', 'units:u32'],
    /** Price of each compute unit. */
    setComputeUnitPrice: ['03', '', 'microLamports:u64'],
    setLoadedAccountsDataSizeLimit: ['04', '', 'bytes:u32'],
  },
})
