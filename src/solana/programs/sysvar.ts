/** Accounts that the cluster itself writes (solana-clock); fields have the names that validators show. */
import { SYSVAR_OWNER } from '../program-ids.ts'
import { programTable } from './table.ts'

export const SYSVAR = programTable(SYSVAR_OWNER, {
  instructions: {},
  accounts: {
    clock: ['', 'slot:u64 epochStartTimestamp:i64 epoch:u64 leaderScheduleEpoch:u64 unixTimestamp:i64'],
  },
})
