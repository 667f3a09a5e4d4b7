/** `svc airdrops`: from a list of recipients to funded distributors, claims, and what is left. */
import { paths } from '../../src/api/paths.ts'
import { type Noun, required, text } from '../command.ts'
import { listVerb, recordVerb } from '../reads.ts'
import { claim } from './claim.ts'
import { eligibility } from './eligibility.ts'
import { exportProofs } from './export.ts'
import { init } from './init.ts'
import { launch } from './launch.ts'
import { status } from './status.ts'
import { withdraw } from './withdraw.ts'

const list = listVerb({
  about: 'List airdrops, newest first',
  at: paths.airdrops.list,
  filters: { mint: text('Only those of this token', { placeholder: 'MINT' }) },
  columns: ['id', 'mint', 'airdrop_count', 'leaf_count', 'status', 'root'],
  call: (client, query) => client.airdrops.list(query),
})

const get = recordVerb({
  about: 'Read one airdrop',
  at: paths.airdrops.get,
  args: { id: required(text('Id of the airdrop')) },
  call: (client, input) => client.airdrops.get(input),
})

export const noun: Noun = {
  verbs: { launch, init, claim, withdraw, status, eligibility, export: exportProofs, list, get },
}
