/** `svc airdrops push`: transfers from the list of a stored tree, because nobody can claim for another wallet. */
import { paths } from '../../src/api/paths.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { required, text, verb } from '../cli/command.ts'
import { makeStateFolder, stateFile } from '../cli/state-file.ts'
import { hashRoot } from '../merkle/recipients.ts'
import { fetchStoredList } from '../merkle/stored-list.ts'
import { failure } from '../ui/problem.ts'
import { listFlags, ROOT_FLAG, requireMeant, rootsOf, storedRecord } from './meant-list.ts'
import { sendFlags } from './sending/flags.ts'
import { sendList } from './sending/list.ts'

const { submit, get, simulate } = paths.transactions
const { create, plan } = paths.tokenTransfers
const PUSHES_FOLDER = 'pushes'

export const airdropPushVerb = verb({
  about: 'Send the list of a stored airdrop, instead of having it claimed',
  details:
    'Only a wallet itself can claim, so these are transfers from your wallet, like those of `svc airdrops send`. Wallets that have claimed are left out. Refused while the vault can pay claims, because a wallet could then be paid twice: withdraw it first. If another API key stored the list, a run without a terminal or with --yes needs --root or --list.',
  calls: [
    create,
    plan,
    submit,
    get,
    simulate,
    paths.service.cluster,
    paths.signer.get,
    paths.merkleTrees.get,
    paths.merkleTrees.entries,
    paths.airdrops.get,
  ],
  args: { id: required(text('Id of the stored tree')) },
  flags: {
    journal: text('File that records who was paid (default: one for this airdrop in the state folder)', {
      placeholder: 'FILE',
    }),
    root: text('Merkle root that the stored list must have, hex', ROOT_FLAG),
    ...listFlags,
    ...sendFlags,
  },
  examples: [
    'svc airdrops push 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --dry-run',
    'svc airdrops push 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw -k payer.json --out paid.csv',
  ],
  async run({ id, journal, root: meantRoot, list: file, decimals, duplicates, ...flags }, session) {
    const record = await storedRecord(session, id)
    if (!flags.dry_run || meantRoot !== undefined || file !== undefined) {
      await requireMeant(session, [record], {
        roots: rootsOf(meantRoot),
        list: file,
        decimals,
        duplicates,
        signs: true,
      })
    }
    const list = await fetchStoredList(session, id, record.leaf_count)
    const root = toHex(hashRoot(list, session.ui))
    if (root !== record.root) {
      throw failure(`the entries of ${id} lead to the root ${root}, its record says ${record.root}`, {
        next: 'the list was replaced meanwhile, or the server runs another version: run the command again',
      })
    }
    if (journal === undefined && !flags.dry_run) makeStateFolder(PUSHES_FOLDER)
    return sendList(session, flags, {
      name: id,
      mint: record.mint,
      list,
      journal: journal ?? `${stateFile(PUSHES_FOLDER, [await session.cluster(), id])}l`,
      airdrop_id: id,
      decimals: undefined,
    })
  },
})
