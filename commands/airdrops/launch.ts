/** `svc airdrops launch`: from a CSV to funded airdrops in one command, which continues after an interruption when run again. */

import { CLAWBACK_DAYS } from '../../src/api/airdrop-terms.ts'
import { paths } from '../../src/api/paths.ts'
import { type EntryList, MAX_STORED_LEAVES, shardList, totalLocked } from '../../src/merkle/entry-list.ts'
import { MAX_AIRDROP_COUNT } from '../../src/merkle/tree-id.ts'
import { unusableWallets, unusableWarnings } from '../../src/merkle/unusable-wallets.ts'
import { groupedDecimalOf } from '../cli/amounts.ts'
import { type InputValues, integer, listOf, mintAddress, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { withListNotes } from '../lists/column-flags.ts'
import { runList } from '../lists/run.ts'
import { builtTreeRecord, readKey } from '../merkle/built-record.ts'
import { chosenUnits, type ListToken, listToken, listWords, requireUnits, unitFlags } from '../merkle/list-units.ts'
import { hashRoot, readRecipients } from '../merkle/recipients.ts'
import { storeTree } from '../merkle/store-tree.ts'
import { refuseUnconfirmable } from '../signing/confirm.ts'
import { ALLOW_LIST_PROGRAMS, SIGNING, signedFlag } from '../signing/flags.ts'
import { repeatFunds, requireFunds, totalLines } from '../signing/funds.ts'
import { DEFAULT_PLATFORM, PLATFORM_ID } from '../signing/platform-flags.ts'
import { platformAddress } from '../signing/platform-wallet.ts'
import { previewLine } from '../signing/preview.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { EXIT, failure, usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { requireClaimants } from './claimants.ts'
import { initializeAirdrop, type LaunchOptions, launchFunds, launchTermsOf } from './initialize.ts'
import { launchJournal, requireLaunchFolder } from './launch-journal.ts'
import { launchOutcome } from './launch-outcome.ts'
import { findProposals, isProposed, proposalLines, proposePart, warnOfNearStart, whyAnew } from './launch-proposals.ts'
import { derivePayer, ownOnChain, type Payer } from './ownership.ts'
import {
  chainStateOf,
  isFunded,
  type LaunchPart,
  launchParts,
  refuseLaunchedTwice,
  requireLaunchTokens,
} from './parts.ts'
import { requireVestingFits, TIME_FLAGS, vestingLines, vestingOf } from './vesting-flags.ts'

const { submit, get, simulate, forecast } = paths.transactions

const launchFlags = {
  mint: required(mintAddress('Mint of the token, or its symbol')),
  airdrop_count: integer('Which airdrop of this mint (default 0); with several trees, that of the first', {
    min: 0,
    max: MAX_AIRDROP_COUNT,
  }),
  counts: listOf('Airdrop counts instead of consecutive ones, one for each tree', {
    placeholder: 'N,N',
    conflicts: ['airdrop_count'],
  }),
  ...unitFlags,
  ...TIME_FLAGS,
  allow_programs: ALLOW_LIST_PROGRAMS,
  again: toggle('Launch a list that is already another airdrop of this mint: everybody is paid twice'),
  replace: toggle('Replace a stored tree that has another root and is not on chain yet'),
  signed: signedFlag('The platform wallet pays and signs, instead of your keypair'),
  dry_run: toggle('Show what would be done, and do nothing'),
  platform_id: PLATFORM_ID,
  keypair: SIGNING.keypair,
  guard: SIGNING.guard,
  squads: SIGNING.squads,
}
type LaunchFlags = InputValues<typeof launchFlags>

export const airdropLaunchVerb = verb({
  about: 'Build, store, initialize and fund the airdrop of a CSV; resumable',
  details: `FILE has one wallet,amount per line, as for \`svc merkle build\`. More than ${MAX_STORED_LEAVES} rows become several airdrops with consecutive counts. A CSV needs --decimals, which must be those of the mint, or --raw. Running the same command again is safe: nothing is created or funded twice, and missing trees are stored. Exit code 1 if a vault lacks tokens at the end: \`missing\` says how many raw units.`,
  calls: [
    paths.merkleTrees.create,
    paths.airdrops.get,
    paths.airdrops.list,
    paths.airdrops.create,
    paths.pdas.derive,
    paths.accounts.get,
    paths.tokens.batchFetch,
    paths.tokenTransfers.plan,
    simulate,
    forecast,
    submit,
    get,
    paths.signer.get,
    paths.proposals.list,
    paths.proposals.get,
  ],
  args: { file: required(text('The CSV, or - for standard input', { existing: true })) },
  flags: launchFlags,
  examples: [
    'svc airdrops launch recipients.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6',
    'svc airdrops launch vesting.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 --ends-at 2027-12-31T00:00:00Z',
    'svc airdrops launch recipients.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 --signed --yes -o json',
  ],
  async run({ file, ...input }, session) {
    const { ui, wallet } = session
    const { squads: acting } = input
    readKey(input.mint, '--mint')
    const { platform_id = DEFAULT_PLATFORM } = input
    if (platform_id.length < 1 || platform_id.length > 64) {
      throw usage('--platform-id must have 1 to 64 characters', { param: '--platform-id' })
    }
    const vesting = vestingOf(input)
    if (!input.dry_run) requireLaunchFolder()
    const token = await listToken(session, input.mint)
    requireUnits(input, token)
    const units = (name: string) => chosenUnits(session, input, { name, token })
    const read = await readRecipients(file, { ...input, units }, ui)
    const { list: recipients, merged, zeroAmounts } = read
    if (merged > 0) ui.warn(`${counted(merged, 'row')} of a wallet that has an earlier row: added to it`)
    if (zeroAmounts > 0) ui.warn(`${counted(zeroAmounts, 'wallet')} with an amount of 0`)
    if (!input.allow_programs) refuseUnusable(file, recipients)
    const lists = recipients.count > MAX_STORED_LEAVES ? shardList(recipients) : [recipients]
    requireVestingFits(vesting, String(totalLocked(recipients)))
    const counts = countsOf(input, lists.length)
    const address =
      acting?.vault ?? (input.signed ? await platformAddress(session) : await wallet.address(input.keypair))
    const payer = await derivePayer(session, address, input.mint)
    const trees = counts.flatMap((count, i) => {
      const part = lists[i]
      if (part === undefined) return []
      const tree = { list: part, root: hashRoot(part, ui) }
      return [{ tree, record: builtTreeRecord(tree, input.mint, count) }]
    })
    const parts = await launchParts(session, trees, { payer, replace: input.replace })
    if (!input.again) await refuseLaunchedTwice(session, parts)
    // A run that was killed after its transaction was confirmed could not remove its journal.
    for (const { isOnChain, record } of input.dry_run ? [] : parts) {
      if (isOnChain) (await launchJournal(session, record)).remove()
    }
    const missing = parts.filter(({ isOnChain }) => !isOnChain)
    if (acting !== undefined) {
      await findProposals(session, acting, { parts: missing, options: launchOptions(input, payer), again: input.again })
      for (const part of missing) warnOfNearStart(session, part)
    }
    const open = missing.filter((part) => !isProposed(part))
    if (open.length > 0) {
      const { mint, allow_programs } = input
      const of = { file, payer: payer.address, mint, allow_programs, isDryRun: input.dry_run }
      await requireClaimants(session, { ...of, list: recipients })
    }
    // If only trees have to be stored, nothing is signed.
    const signs = open.length > 0
    if (signs && !input.dry_run) await refuseUnconfirmable(session, await session.cluster())
    await requireLaunchTokens(session, { token, payer, parts: missing })
    const { api } = await session.caller()
    const question = launchQuestion(open, token, acting)
    return runList(session, input, {
      question,
      isOpen: open.length > 0 || parts.some(({ isStored }) => !isStored),
      signs,
      async preview() {
        const [first] = open
        const funds =
          first &&
          repeatFunds(await launchFunds(session, launchOptions(input, payer), first.record, acting), open.length)
        const total = funds === undefined ? [] : totalLines(funds, acting?.member ?? payer.address)
        await ui.preview([question, ...planLines(session, input, { payer, file, parts, token }), ...total])
        if (funds !== undefined && !input.dry_run) requireFunds(funds, await session.cluster())
        return null
      },
      work: () => launchAll(session, input, { payer, parts }),
      outcome(dry) {
        const done =
          missing.length === 0
            ? 'Everything is on chain already: nothing was sent.'
            : 'Every part is proposed already: nothing was sent.'
        const notes = signs ? dry : [done]
        const shown = [...notes, ...(input.dry_run ? [] : pageNotes(api, parts))]
        const outcome = withListNotes(
          launchOutcome(parts, token, { notes: shown, isProposed: acting !== undefined }),
          read,
        )
        // A withdrawn vault no longer pays anyone, so it lacks no tokens.
        const isComplete = parts.every((part) => (part.isOnChain ? part.missing === 0n : isProposed(part)))
        return input.dry_run || isComplete ? outcome : { ...outcome, exitCode: EXIT.failed }
      },
    })
  },
})

/** Where the claim page of each airdrop is, or how to get one. */
function pageNotes(api: string, parts: readonly LaunchPart[]): string[] {
  const base = /^https?:/.test(api) ? api : ''
  const pages = parts.filter(({ isOnChain }) => isOnChain).map(({ record }) => `${base}/claim/${record.id}/`)
  if (pages.length === 0) return []
  return [
    `Claim page: ${pages.join(', ')}${base === '' ? ' of `svc serve`' : ''}`,
    `As a folder for any host: \`svc airdrops page ${parts.map(({ record }) => record.id).join(' ')} --out claim\``,
  ]
}

/**
 * Refuses wallets that could never claim, before anything is stored. The API also checks the chain once the list is
 * stored.
 */
function refuseUnusable(file: string, list: EntryList): void {
  const found = unusableWallets(list, list.count)
  const [warning] = unusableWarnings(found)
  if (warning !== undefined) {
    throw usage(`${file}: ${warning}`, { param: '<file>', details: { count: found.count, wallets: found.first } })
  }
}

function launchQuestion(open: readonly LaunchPart[], token: ListToken, acting: ActingVault | undefined): string {
  if (open.length === 0) return 'Store the tree of an airdrop that is on chain already'
  const airdrops = open.length === 1 ? 'an airdrop' : `${open.length} airdrops`
  const doing = acting === undefined ? 'Launch' : 'Propose'
  return `${doing} ${airdrops}: ${listWords(
    open.map(({ tree }) => tree.list),
    token,
  )}`
}

/** The airdrop count of each tree. Throws a usage problem if the flags do not specify one for each. */
export function countsOf(
  { airdrop_count, counts }: Pick<LaunchFlags, 'airdrop_count' | 'counts'>,
  trees: number,
): number[] {
  if (counts === undefined) {
    const first = airdrop_count ?? 0
    if (first + trees - 1 > MAX_AIRDROP_COUNT) {
      throw usage(`${trees} airdrops from --airdrop-count ${first} go past ${MAX_AIRDROP_COUNT}`, {
        param: '--airdrop-count',
      })
    }
    return Array.from({ length: trees }, (_, i) => first + i)
  }
  const wrong = (what: string) => usage(`--counts ${what}`, { param: '--counts' })
  if (counts.length !== trees)
    throw wrong(`must have ${counted(trees, 'number')}, one for each tree, not ${counts.length}`)
  const strange = counts.find((count) => !/^\d{1,5}$/.test(count) || Number(count) > MAX_AIRDROP_COUNT)
  if (strange !== undefined) throw wrong(`must be whole numbers from 0 to ${MAX_AIRDROP_COUNT}, not "${strange}"`)
  if (new Set(counts.map(Number)).size < trees) throw wrong('must not have a number twice')
  return counts.map(Number)
}

const launchOptions = (input: LaunchFlags, payer: Payer): LaunchOptions => ({
  payer,
  signed: input.signed,
  keypair: input.keypair,
  platform_id: input.platform_id ?? DEFAULT_PLATFORM,
  guard: input.guard,
  clawback_after_days: input.clawback_after_days,
  vesting: vestingOf(input),
  allow_programs: input.allow_programs,
})

/**
 * Launches one airdrop after another. Lists of rows use `workThrough`; here each airdrop has its own journal and notes,
 * some trees only have to be stored, and the first failure is the error of the command.
 */
async function launchAll(
  session: Session,
  input: LaunchFlags,
  { payer, parts }: { payer: Payer; parts: readonly LaunchPart[] },
): Promise<void> {
  const { ui } = session
  const options = launchOptions(input, payer)
  // This check precedes the replacement of a tree, because a launch that was signed for the older tree may still be
  // confirmed.
  for (const { isOnChain, record } of parts) {
    if (isOnChain) continue
    await (await launchJournal(session, record)).refuseOtherTerms(session, launchTermsOf(options, record))
  }
  for (const part of parts.filter((each) => !each.isStored || !(each.isOnChain || isProposed(each)))) {
    const { record, tree, isOnChain } = part
    const name = parts.length === 1 ? record.id : `${record.id} (airdrop ${record.airdrop_count})`
    session.setInterruptNote(INTERRUPTED)
    await storeTree(session, tree, record, input.replace)
    ui.note(`${name}: stored, ${counted(record.leaf_count, 'wallet')}, root ${record.root}`)
    if (isOnChain) {
      Object.assign(part, await stateNow(session, payer, part))
      continue
    }
    if (input.squads !== undefined) {
      await proposeOnce(session, input.squads, part, options)
      continue
    }
    Object.assign(part, await initializeAirdrop(session, options, record))
    ui.note(`${name}: on chain${isFunded(part) ? ' and funded' : ''}`)
  }
  session.setInterruptNote(null)
}

/** Proposes a part, unless another run has proposed it meanwhile. */
async function proposeOnce(
  session: Session,
  acting: ActingVault,
  part: LaunchPart,
  options: LaunchOptions,
): Promise<void> {
  const { record } = part
  const journal = await launchJournal(session, record)
  const release = await journal.begin()
  try {
    const why = whyAnew(part)
    await findProposals(session, acting, { parts: [part], options, again: true })
    if (isProposed(part)) return
    if (why !== null) session.ui.note(`Airdrop ${record.airdrop_count} is proposed anew, because ${why}`)
    part.proposal = await proposePart(session, acting, part, options)
    const { id, approver } = part.proposal
    const number = approver.kind === 'squads' ? ` (number ${approver.transaction_index})` : ''
    session.ui.note(`Airdrop ${record.airdrop_count}: proposed as ${id}${number}`)
    warnOfNearStart(session, part)
  } finally {
    journal.removeEnded()
    release()
  }
}

/** Reads the state again, because the API knows what an airdrop can pay out only once its tree is stored. */
async function stateNow(session: Session, payer: Payer, { record }: LaunchPart) {
  const airdrop = await ownOnChain(session, payer, record)
  if (airdrop !== null) return chainStateOf(session, airdrop, payer, record)
  throw failure(`the tree of ${record.id} is stored, but its distributor cannot be read from the chain now`, {
    next: 'run the same command again',
  })
}

const INTERRUPTED = 'Stopped. The same command continues from here, and sends nothing twice.'

interface LaunchPreview {
  payer: Payer
  file: string
  parts: readonly LaunchPart[]
  token: ListToken
}

function planLines(session: Session, input: LaunchFlags, { payer, file, parts, token }: LaunchPreview): string[] {
  const { mint, clawback_after_days = CLAWBACK_DAYS.fallback } = input
  return [
    previewLine('list', file),
    previewLine('mint', mint),
    previewLine('payer', payer.address),
    ...(input.squads === undefined ? [] : proposalLines(session, input.squads, input.starts_at)),
    ...vestingLines(vestingOf(input), input.squads !== undefined),
    ...(parts.every(({ isOnChain }) => isOnChain)
      ? []
      : [
          previewLine(
            'left over',
            `back to the payer's token account after ${counted(clawback_after_days, 'day')}${afterWhat(input)}`,
          ),
        ]),
    ...parts.map((part) =>
      previewLine(
        `  ${part.record.airdrop_count}`,
        `${listWords([part.tree.list], token)}: ${stepsOf(part, token.decimals)}`,
      ),
    ),
  ]
}

const afterWhat = ({ ends_at, squads }: LaunchFlags) =>
  ends_at !== undefined ? ' from the end of the vesting' : squads === undefined ? '' : ' from the start'

function stepsOf(part: LaunchPart, decimals: number): string {
  const { isOnChain, isStored, isWithdrawn, missing, proposal } = part
  if (!isOnChain && proposal !== null && isProposed(part)) return `${proposal.id} is ${proposal.status} already`
  const why = whyAnew(part)
  if (why !== null) return `propose anew, because ${why}`
  if (!isOnChain) return isStored ? 'initialize, fund' : 'store, initialize, fund'
  const lacks = missing > 0n ? `; its vault lacks ${groupedDecimalOf(missing, decimals)}` : ''
  return `${isStored ? '' : 'store; '}on chain already${isWithdrawn ? '; its vault was withdrawn' : lacks}`
}
