/** `svc airdrops push`: transfers from the list of a stored tree, because nobody can claim for another wallet. */
import { paths } from '../../src/api/paths.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { required, text, verb } from '../cli/command.ts'
import { makeStateFolder, stateFile } from '../cli/state-file.ts'
import { SEND_CALLS, sendFlags } from '../lists/batches/flags.ts'
import { doToWallets } from '../lists/batches/list.ts'
import { columnInputs } from '../lists/column-flags.ts'
import { chosenUnits, listToken, requireUnits, unitFlags } from '../merkle/list-units.ts'
import { hashRoot } from '../merkle/recipients.ts'
import { fetchStoredList } from '../merkle/stored-list.ts'
import { failure } from '../ui/problem.ts'
import { listFlags, ROOT_FLAG, requireMeant, rootsOf, storedRecord } from './meant-list.ts'

const PUSHES_FOLDER = 'pushes'

export const airdropPushVerb = verb({
  about: 'Send the list of a stored airdrop, instead of having it claimed',
  details:
    'Only a wallet itself can claim, so these are transfers from your wallet, like those of `svc airdrops send`. Wallets that have claimed are left out. Refused while the vault can pay claims: a wallet could be paid twice. Withdraw the vault first. If another API key stored the list, a run without a terminal or with --yes needs --root or --list.',
  calls: [...SEND_CALLS, paths.merkleTrees.get, paths.merkleTrees.entries, paths.airdrops.get],
  args: { id: required(text('Id of the stored tree')) },
  flags: {
    journal: text('File that records who was paid (default: one for this airdrop in the state folder)', {
      placeholder: 'FILE',
    }),
    root: text('Merkle root that the stored list must have, hex', ROOT_FLAG),
    ...listFlags,
    raw: unitFlags.raw,
    ...sendFlags,
  },
  examples: [
    'svc airdrops push 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --dry-run',
    'svc airdrops push 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw -k payer.json --out paid.csv',
  ],
  async run({ id, journal, root: meantRoot, list: file, decimals, raw, duplicates, ...flags }, session) {
    const record = await storedRecord(session, id)
    const chosen = { decimals, raw }
    const token = await listToken(session, record.mint)
    requireUnits(chosen, token)
    if (!flags.dry_run || meantRoot !== undefined || file !== undefined) {
      await requireMeant(session, [record], {
        roots: rootsOf(meantRoot),
        list: file,
        ...columnInputs(flags),
        decimals,
        duplicates,
        units: (name) => chosenUnits(session, chosen, { name, token }),
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
    return doToWallets(session, flags, {
      act: 'send',
      name: id,
      token,
      list,
      journal: journal ?? stateFile(PUSHES_FOLDER, [await session.cluster(), id], 'jsonl'),
      proposals: journal ?? stateFile(PUSHES_FOLDER, [await session.cluster(), id, flags.squads?.vault], 'jsonl'),
      airdrop_id: id,
    })
  },
})
