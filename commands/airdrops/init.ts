/** `svc airdrops init`: creates and funds a distributor in one transaction, signed by the user's keypair or the platform wallet. */

import type { Airdrop } from '../../src/api/airdrops.ts'
import { paths } from '../../src/api/paths.ts'
import type { EntryList } from '../../src/merkle/entry-list.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { MAX_AIRDROP_COUNT } from '../../src/merkle/tree-id.ts'
import { type InputValues, integer, mintAddress, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { listTokenIfRead, listWords, totalWords } from '../merkle/list-units.ts'
import { hashRoot } from '../merkle/recipients.ts'
import { fetchStoredList } from '../merkle/stored-list.ts'
import { demanding } from '../signing/demand.ts'
import {
  ALLOW_LIST_PROGRAMS,
  approverField,
  IDEMPOTENCY_KEY,
  programsField,
  SIGNING,
  signedFlag,
} from '../signing/flags.ts'
import { DEFAULT_PLATFORM, PLATFORM_ID } from '../signing/platform-flags.ts'
import { previewLine } from '../signing/preview.ts'
import { ACT_CALLS, runAct } from '../signing/run-act.ts'
import { nullIfNotFound } from '../ui/problem.ts'
import { type NewAirdrop, opensAirdrop } from './initialize.ts'
import { listFlags, ROOT_FLAG, requireAsked, requireNamedList, rootsOf, seenHere } from './stored-list.ts'
import { TIME_FLAGS, vestingLines, vestingOf } from './vesting-flags.ts'

export const demandsInit = demanding('this airdrop, with this deposit into its vault', opensAirdrop)

const initFlags = {
  mint: mintAddress('Mint of the token, or its symbol, if no tree is stored', { conflicts: ['id'], needs: ['root'] }),
  airdrop_count: integer('Which airdrop of this mint, with --mint (default 0)', {
    min: 0,
    max: MAX_AIRDROP_COUNT,
    needs: ['mint'],
  }),
  root: text(
    'Merkle root, hex: that of the airdrop with --mint, or the root that the stored tree must have',
    ROOT_FLAG,
  ),
  ...listFlags,
  list: { ...listFlags.list, needs: ['id'] },
  unfunded: toggle('Deposit nothing: nobody can claim until you fund the vault', { conflicts: ['fund_amount'] }),
  fund_amount: text('Deposit this many raw units instead of the total of the tree', { placeholder: 'UNITS' }),
  ...TIME_FLAGS,
  allow_programs: ALLOW_LIST_PROGRAMS,
  signed: signedFlag('The platform wallet pays and signs, instead of your keypair'),
  idempotency_key: IDEMPOTENCY_KEY,
  platform_id: PLATFORM_ID,
  ...SIGNING,
}
type InitFlags = InputValues<typeof initFlags>

export const airdropInitVerb = verb({
  about: 'Put an airdrop on chain and fund it, in one transaction',
  details:
    'With the id of a stored tree, its root and total are taken from there. If another API key stored it, a run without a terminal, or with --yes, needs --root or --list. Unclaimed tokens return to the token account of the payer after the clawback time.',
  calls: [
    ...[paths.airdrops.create, paths.airdrops.get, ...ACT_CALLS],
    ...[paths.merkleTrees.entries, paths.accounts.get, paths.tokens.batchFetch],
  ],
  args: { id: text('Id of the stored tree; not with --mint') },
  flags: initFlags,
  needs: [['id', 'mint']],
  examples: [
    'svc airdrops init 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops init 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --signed --clawback-after-days 90 --yes',
    'svc airdrops init 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --list recipients.csv --decimals 6 --yes',
    'svc airdrops init 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --ends-at 2027-12-31T00:00:00Z',
    'svc airdrops init --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --airdrop-count 3 --root 44af2d44dc00d2157cde1260ad46338d985dcf63691f900ef154ebde036a1be7 --fund-amount 1000000',
  ],
  async run({ id, ...input }, session) {
    const vesting = vestingOf(input)
    const { tree, agreed, words } = id === undefined ? airdropByFlags(input) : await storedAirdrop(session, id, input)
    const request = {
      ...tree,
      platform_id: input.platform_id ?? DEFAULT_PLATFORM,
      ...(input.unfunded ? { fund: false } : {}),
      ...(input.fund_amount === undefined ? {} : { fund_amount: input.fund_amount }),
      ...(input.clawback_after_days === undefined ? {} : { clawback_after_days: input.clawback_after_days }),
      ...vesting,
      ...programsField(input),
    }
    return runAct(session, input, {
      what: `Initialize airdrop ${tree.airdrop_count} of ${tree.mint}`,
      call: (body, options) => session.client.airdrops.create({ ...request, ...body }, options),
      demand: (of) => demandsInit(of, { ...agreed, body: { ...request, ...approverField(input) } }),
      preview: () => [
        previewLine('root', tree.merkle_root),
        ...(words === null ? [] : [previewLine('amounts', words)]),
        ...vestingLines(vesting, input.squads !== undefined),
      ],
      show: () => ({ mint: tree.mint, airdrop_count: tree.airdrop_count, root: tree.merkle_root }),
    })
  },
})

/** Which airdrop is made, what is known here of its list, and in words what it pays. */
interface MeantAirdrop {
  tree: { mint: string; airdrop_count: number; merkle_root: string }
  agreed: Omit<NewAirdrop, 'body'>
  words: string | null
}

/** Only the caps and the deposit of a stored tree are known here, so others are not compared. */
const airdropByFlags = ({ mint = '', airdrop_count = 0, root = '' }: InitFlags): MeantAirdrop => ({
  tree: { mint, airdrop_count, merkle_root: root },
  agreed: { total: null, leaf_count: null, known: null },
  words: null,
})

/** The most entries that are read to say what a list pays; of a longer one only the total is said. */
const MOST_READ = 1_000

/** What the list pays, from the list itself or from the entries that are stored. */
async function paidWords(session: Session, record: Airdrop, list: EntryList | null): Promise<string | null> {
  const { id, mint, leaf_count, root, total } = record
  if (total === null) return null
  const token = await listTokenIfRead(session, mint)
  const units = { decimals: token?.decimals ?? null, symbol: token?.symbol ?? null }
  if (list !== null) return listWords([list], units)
  const stored = leaf_count > MOST_READ ? null : await nullIfNotFound(fetchStoredList(session, id, leaf_count))
  const isWhole = stored !== null && toHex(hashRoot(stored, session.ui)) === root
  return isWhole ? listWords([stored], units) : totalWords(leaf_count, BigInt(total), units)
}

async function storedAirdrop(session: Session, id: string, input: InitFlags): Promise<MeantAirdrop> {
  const data = requireAsked(id, (await session.client.airdrops.get({ id })).data)
  const { mint, airdrop_count, root, total, leaf_count } = data
  // A dry run signs nothing, and shows the root.
  const isMeant = !input.dry_run || input.root !== undefined || input.list !== undefined
  const list = isMeant
    ? await requireNamedList(session, [data], { ...input, roots: rootsOf(input.root), signs: true })
    : null
  const seen = seenHere(id)
  const known = seen?.root === root && seen.total === total ? total : null
  return {
    tree: { mint, airdrop_count, merkle_root: root },
    agreed: { total, leaf_count: total === null ? null : leaf_count, known },
    words: await paidWords(session, data, list),
  }
}
