/** `svc airdrops eligibility`: which airdrops a wallet is in, what it can claim, and why not. */
import { paths } from '../../src/api/paths.ts'
import { required, text } from '../command.ts'
import { listVerb } from '../reads.ts'

export const eligibility = listVerb({
  about: 'In which stored airdrops a wallet is, what it can claim, and why not',
  at: paths.airdrops.lookup,
  args: { wallet: required(text('Address of the wallet')) },
  filters: { mint: text('Only those of this token', { placeholder: 'MINT' }) },
  columns: ['id', 'mint', 'airdrop_count', 'amount', 'status', 'claimed', 'claimable', 'note'],
  whole: true,
  call: (client, query) => client.airdrops.lookup(query),
})
