/** Puts one airdrop on chain and funds it, once, however often the launch is interrupted. */
import { CLAWBACK_DAYS, PROPOSED_START_DAYS } from '../../src/api/airdrop-terms.ts'
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import type { Client } from '../../src/client.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { DAY_SECONDS } from '../../src/platform/timing.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { MERKLE_DISTRIBUTOR } from '../../src/solana/programs/merkle-distributor.ts'
import type { Session } from '../cli/session.ts'
import { sendOne } from '../lists/attempt.ts'
import { trackedField } from '../signing/built-transactions.ts'
import {
  anyValue,
  type Call,
  checkedBuild,
  demanding,
  opens,
  requireShownGuards,
  type Sent,
  type Signing,
  signingFor,
} from '../signing/demand.ts'
import { approverField, programsField, type TermsFlags, termsField } from '../signing/flags.ts'
import { type Funds, forecastFunds, UNKNOWN_FUNDS } from '../signing/funds.ts'
import { fundsOfProposal } from '../signing/propose.ts'
import { requireUnsigned } from '../signing/run-act.ts'
import { simulateBuild, wouldFail } from '../signing/run-failures.ts'
import { signCompletely } from '../signing/signatures.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { failure } from '../ui/problem.ts'
import { type LaunchSending, type LaunchTerms, launchJournal } from './launch-journal.ts'
import { ownOnChain, type Payer } from './ownership.ts'
import { chainStateOf, type LaunchPart, type PartState } from './parts.ts'
import type { VestingTimes } from './vesting-flags.ts'

/** A request to put an airdrop on chain, and what is known here of its list. */
export interface NewAirdrop {
  body: Sent<Client['airdrops']['create']>
  /** The caps of the distributor; null if no tree is stored, so that none were agreed. */
  total: string | null
  leaf_count: number | null
  /** Raw units of the deposit unless the request says; null if nobody here has seen the total. */
  known: string | null
}

/** The rest goes back to the account of the deposit. */
export async function opensAirdrop(of: Signing, { body, total, leaf_count, known }: NewAirdrop): Promise<Call[]> {
  const { payer } = of
  const { mint, airdrop_count, clawback_after_days: days = CLAWBACK_DAYS.fallback } = body
  const deposit = body.fund === false ? '0' : (body.fund_amount ?? known)
  const isAt = body.approver === undefined ? isAtOrNow : isProposedAt
  const own = await of.accounts(mint, payer)
  const { distributor, vault } = await of.claim(mint, airdrop_count, payer)
  const clawbackAfter = BigInt(days * DAY_SECONDS)
  let ends = 0n
  const said = (units: string) => {
    of.apiSays(`a deposit of ${units} raw units`, '--fund-amount')
    return true
  }
  return [
    opens(payer, payer, mint),
    {
      program: MERKLE_DISTRIBUTOR.id,
      call: 'new_distributor',
      fields: {
        distributor,
        mint,
        token_vault: vault,
        admin: payer,
        clawback_receiver: own,
        version: airdrop_count,
        root: body.merkle_root.toLowerCase().replace(/^0x/, ''),
        max_total_claim: total ?? anyValue,
        max_num_nodes: leaf_count ?? anyValue,
        start_vesting_ts: isAt(of, body.starts_at),
        end_vesting_ts: (seconds) => {
          ends = BigInt(seconds)
          return isAt(of, body.ends_at)(seconds)
        },
        clawback_start_ts: (seconds) => BigInt(seconds) === ends + clawbackAfter,
      },
    },
    ...(deposit === '0'
      ? []
      : [
          {
            program: TOKEN_PROGRAM,
            call: 'transferChecked',
            fields: { source: own, mint, destination: vault, authority: payer, amount: deposit ?? said },
            least: deposit === null ? 0 : 1,
          },
        ]),
  ]
}

/** Without vesting, the program still needs times, and both are now. */
const isAtOrNow = (of: Signing, time: string | undefined) => (seconds: string) =>
  time === undefined ? of.isNow(seconds) : Number(seconds) === Math.floor(Date.parse(time) / 1000)

/** Those of a proposal are days ahead, and nearer once it has waited. */
const isProposedAt = (of: Signing, time: string | undefined) => (seconds: string) =>
  time === undefined
    ? Array.from({ length: PROPOSED_START_DAYS + 1 }, (_, days) => Number(seconds) - days * DAY_SECONDS).some((at) =>
        of.isNow(String(at)),
      )
    : isAtOrNow(of, time)(seconds)

export const demandsLaunchedAirdrop = demanding('this airdrop, with its total into its vault', opensAirdrop)

export interface LaunchOptions {
  payer: Payer
  /** Whether the platform wallet signs. */
  signed: boolean
  keypair: string | undefined
  guard: TermsFlags['guard']
  platform_id: string
  clawback_after_days: number | undefined
  vesting: VestingTimes
  allow_programs: boolean
}

/**
 * Returns the airdrop as the chain shows it, with the signature of this run, or null if an earlier run created it.
 */
export async function initializeAirdrop(
  session: Session,
  options: LaunchOptions,
  record: TreeRecord,
): Promise<PartState & Pick<LaunchPart, 'signature'>> {
  const journal = await launchJournal(session, record)
  const before = await ownOnChain(session, options.payer, record)
  if (before !== null) {
    journal.remove()
    return { ...chainStateOf(session, before, options.payer, record), signature: null }
  }
  const terms = launchTermsOf(options, record)
  const release = await journal.begin()
  const signature = await sendOne(session, {
    begun: journal.begun(terms),
    sign: () => signLaunch(session, options, record),
    async ask(_, request) {
      const { data } = await session.client.airdrops.create({ ...launchBody(options, record), mode: 'signed' }, request)
      if (data.mode === 'signed') return data
      throw failure('the API answered without a signature: it did not sign')
    },
    keep: (sending, end) => journal.keep(terms, end === undefined ? sending : null),
    // The chain has one distributor for an id, so no second transaction can make it again.
    replacesUnseen: true,
    unfinished: `the airdrop ${record.id} was not put on chain`,
  }).finally(() => {
    journal.removeEnded()
    release()
  })
  const after = await ownOnChain(session, options.payer, record)
  if (after === null) {
    throw failure(`${signature} is confirmed, but the distributor of ${record.id} is not seen on chain yet`, {
      next: 'run the same command again',
      details: { signature },
    })
  }
  return { ...chainStateOf(session, after, options.payer, record), signature }
}

export const launchTermsOf = (
  { payer, platform_id, clawback_after_days, signed, vesting }: LaunchOptions,
  { root }: Pick<TreeRecord, 'root'>,
): LaunchTerms => ({
  payer: payer.address,
  root,
  platform_id,
  clawback_after_days: clawback_after_days ?? null,
  signed,
  ...(vesting.ends_at === undefined ? {} : { vesting }),
})

/** Signs with the user's keypair what the user agreed to, or makes the request to the platform wallet. */
async function signLaunch(session: Session, options: LaunchOptions, record: TreeRecord): Promise<LaunchSending> {
  if (options.signed) return { key: crypto.randomUUID(), at: session.clock.now(), signature: null }
  const { keypair, payer } = options
  const { data } = requireUnsigned(await session.client.airdrops.create(launchBody(options, record)))
  const of = signingFor(session, payer.address, { guard: options.guard, cluster: await session.cluster() })
  const demand = await demandsLaunchedAirdrop(of, launchedAirdrop(launchBody(options, record), record))
  const checked = await checkedBuild(session, data.transaction, demand)
  const forecast = await simulateBuild(session, data.transaction, payer.address)
  if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  await requireShownGuards(session, checked, demand, forecast)
  // The height is left out: if the API does not know the transaction, the next run then signs at once. That is safe,
  // because the chain has one distributor for an id.
  return { ...(await signCompletely(session, checked, { keypair })), ...trackedField(data) }
}

/** What one airdrop takes of the payer, without its tokens; those of one list differ only in their trees. */
export async function launchFunds(
  session: Session,
  options: LaunchOptions,
  record: TreeRecord,
  acting?: ActingVault,
): Promise<Funds> {
  const asked = { ...launchBody(options, record), ...approverField({ squads: acting }), dry_run: true as const }
  // A tree that replaces a stored one cannot be built before it is stored.
  const data = await session.client.airdrops.create(asked).then(
    (answer) => requireUnsigned(answer).data,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'bad_request' && !error.param?.startsWith('approver')) return null
      throw error
    },
  )
  if (data === null) return UNKNOWN_FUNDS
  const { payments, ...funds } =
    acting === undefined
      ? await forecastFunds(session, [data.transaction])
      : await fundsOfProposal(session, acting, data)
  return { ...funds, fault: null, payments: payments.filter(({ mint }) => mint === null) }
}

export const launchBody = (
  { payer, platform_id, clawback_after_days, vesting, allow_programs, guard }: LaunchOptions,
  { mint, airdrop_count, root }: TreeRecord,
) => ({
  payer: payer.address,
  platform_id,
  mint,
  airdrop_count,
  merkle_root: root,
  ...(clawback_after_days === undefined ? {} : { clawback_after_days }),
  ...vesting,
  ...programsField({ allow_programs }),
  ...termsField({ guard }),
})

/** A launch deposits the total of its tree, which this machine has built. */
export const launchedAirdrop = (body: NewAirdrop['body'], { total, leaf_count }: TreeRecord): NewAirdrop => ({
  body,
  total,
  leaf_count,
  known: total,
})
