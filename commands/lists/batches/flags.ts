/** The flags and requests of both commands that send a list. */
import { paths } from '../../../src/api/paths.ts'
import { text, toggle } from '../../cli/command.ts'
import { ALLOW_PROGRAMS, SIGN_UNSEEN, SIGNING, signedFlag } from '../../signing/flags.ts'
import { TRUST_JOURNAL } from '../proof.ts'

const { submit, get, simulate, batchFetch } = paths.transactions
const { create, plan } = paths.tokenTransfers

export const SEND_CALLS = [
  create,
  plan,
  submit,
  get,
  simulate,
  batchFetch,
  paths.service.cluster,
  paths.signer.get,
  paths.accounts.get,
  paths.tokens.batchFetch,
]

export const sendFlags = {
  out: text('Write every wallet with its signature to this CSV', { placeholder: 'FILE' }),
  signed: signedFlag('The platform wallet sends and pays, instead of your keypair'),
  allow_programs: ALLOW_PROGRAMS,
  accept_transfer_fee: toggle('Send a token with a transfer fee, so that less arrives'),
  again: toggle('Pay everybody again, although the same list was sent with another journal'),
  sign_unseen: SIGN_UNSEEN,
  trust_journal: TRUST_JOURNAL,
  keypair: SIGNING.keypair,
  squads: SIGNING.squads,
  tx_version: SIGNING.tx_version,
  guard: SIGNING.guard,
  dry_run: toggle('Show the cost and who would be left out; nothing is signed, sent or stored'),
}
