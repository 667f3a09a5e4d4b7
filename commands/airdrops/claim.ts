/** `svc airdrops claim`: a wallet's share, claimed with its own keypair and, on request, sold for SOL. */
import type { AirdropClaimCreated } from '../../src/api/airdrops.ts'
import { paths } from '../../src/api/paths.ts'
import type { SponsoredClaimBuilt } from '../../src/api/sponsorships.ts'
import type { Simulation } from '../../src/api/transactions.ts'
import { decodeTreeId } from '../../src/merkle/tree-id.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { solText } from '../../src/solana/amounts.ts'
import { bytesOfHex } from '../../src/solana/bytes.ts'
import { TOKEN_PROGRAM, WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { MERKLE_DISTRIBUTOR } from '../../src/solana/programs/merkle-distributor.ts'
import { LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import { type CommandOutcome, type InputValues, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { demandsSwap } from '../pools/trade-demand.ts'
import { confirmOn, refuseUnconfirmable } from '../signing/confirm.ts'
import {
  anyValue,
  type Call,
  type CheckedBuild,
  checkedBuild,
  demanding,
  opens,
  pays,
  platformFee,
  requireShownGuards,
  type Signing,
  signingFor,
  unexpectedBuild,
} from '../signing/demand.ts'
import { buildFields, SIGNING, type SigningFlags, termsField } from '../signing/flags.ts'
import { waitForTransaction } from '../signing/following.ts'
import { DEFAULT_PLATFORM, PLATFORM } from '../signing/platform-flags.ts'
import { checkedLines, previewLine, runLines } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'
import { simulateBuild, transactionFailure, wouldFail } from '../signing/run-failures.ts'
import { dryRunOutcome, sentOutcome } from '../signing/run-outcomes.ts'
import { signChecked } from '../signing/signatures.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import { readJson } from '../ui/files.ts'
import { failure, usage } from '../ui/problem.ts'

// Reads mint and count from the id of an airdrop, without the API.

/** Mint and count of an airdrop; its id is made of both. */
async function parseAirdropId(id: string): Promise<{ mint: string; airdrop_count: number }> {
  const airdrop = decodeTreeId(id)
  if (airdrop === undefined)
    throw usage(`${id} is not the id of an airdrop`, { next: '`svc airdrops list` shows the ids' })
  // This import is dynamic because the module converts addresses, and help must not load base58.
  const { keyToBase58 } = await import('../../src/merkle/base58.ts')
  return { mint: keyToBase58(airdrop.mint), airdrop_count: airdrop.airdropCount }
}

// The claim for which the platform wallet pays: built by the API, checked and signed here, then signed and sent by
// the API.

/** The request of a claim. */
interface OwnClaim {
  body: { id: string; claimer: string; platform_fee?: number }
  /** Raw units paid at once, if the caller has its own proof. */
  proven?: string | undefined
  /** Called with the amount paid at once, which the program proves; null if vested amounts come with it. */
  onAmount?(units: bigint | null): void
}

/** The payer is the claimer, or a sponsor that pays the rent of the claim's record. */
async function claimsAirdrop(of: Signing, { body, proven, onAmount }: OwnClaim): Promise<Call[]> {
  const { claimer } = body
  const { mint, airdrop_count } = await parseAirdropId(body.id)
  const { distributor, claimStatus, vault, tokenAccount } = await of.claim(mint, airdrop_count, claimer)
  const fields = {
    distributor,
    claim_status: claimStatus,
    from: vault,
    to: tokenAccount,
    claimant: claimer,
    token_program: TOKEN_PROGRAM,
  }
  const { id: program } = MERKLE_DISTRIBUTOR
  return [
    opens(of.payer, claimer, mint),
    ...(of.payer === claimer ? [] : [{ ...pays(of.payer, claimer, anyValue), least: 0 }]),
    // With vesting, one instruction claims the amount paid at once, another the vested amount.
    {
      program,
      call: 'new_claim',
      fields: {
        ...fields,
        amount_unlocked: (units) => {
          onAmount?.(BigInt(units))
          return proven === undefined || units === proven
        },
      },
      data: (hex) => MERKLE_DISTRIBUTOR.argsOf('new_claim', bytesOfHex(hex)) !== null,
      group: 'claim',
      mostOfGroup: 2,
    },
    {
      program,
      call: 'claim_locked',
      fields,
      data: (hex) => {
        onAmount?.(null)
        return MERKLE_DISTRIBUTOR.argsOf('claim_locked', bytesOfHex(hex)) !== null
      },
      group: 'claim',
      mostOfGroup: 2,
    },
    ...platformFee(claimer, body.platform_fee),
  ]
}

const demandsClaim = demanding('one claim, into your own account', claimsAirdrop)

type SponsoredFlags = SigningFlags & { platform_fee?: number | undefined }

export async function claimSponsored(session: Session, id: string, flags: SponsoredFlags): Promise<CommandOutcome> {
  if (flags.platform_fee) {
    throw usage('--platform-fee cannot be used with --sponsor', {
      param: '--platform-fee',
      next: 'leave one of the two out',
    })
  }
  const claimer = await signingWallet(session, flags)
  if (!flags.dry_run) await refuseUnconfirmable(session, await session.cluster())
  const what = `Claim from the airdrop ${id}, paid for by the platform wallet`
  const build = async () => {
    const body = { ...termsField(flags), id, claimer }
    const { data } = await session.client.sponsorships.build(body)
    if (data.fee_payer === claimer) throw unexpectedBuild(`${claimer} would pay its fee`)
    const sponsored = signingFor(session, data.fee_payer, { guard: flags.guard, signer: claimer })
    const demand = await demandsClaim(sponsored, { body })
    const transaction = await checkedBuild(session, data.transaction, demand)
    const forecast = await simulateBuild(session, transaction, claimer, data.guard)
    requireFreeOfCost(forecast.simulation, claimer)
    await requireShownGuards(session, transaction, demand, forecast)
    return { data: { ...data, transaction }, forecast, demand }
  }
  const { data, forecast, demand } = await build()
  const paid = previewLine('sponsored', `${solOf(BigInt(data.lamports))} SOL by ${data.fee_payer}`)
  const preview = [paid, ...checkedLines(demand)]
  const lines = runLines(what, forecast, { preview, later: [], bundle: false })
  if (flags.dry_run) {
    return dryRunOutcome(data, forecast, lines, { note: 'Nothing was signed with your keypair, and nothing was sent.' })
  }
  await session.ui.preview(lines)
  if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  // The answer may have taken so long that the platform wallet would refuse the old build.
  const agreed = (await confirmOn(session, what, forecast.cluster)) ? await build() : { data, forecast }
  if (agreed.forecast.fault !== null) throw wouldFail(agreed.forecast, agreed.forecast.fault)
  return send(session, id, flags, agreed.data)
}

async function send(
  session: Session,
  id: string,
  { keypair, wait = 'confirmed' }: SponsoredFlags,
  built: SponsoredClaimBuilt & { transaction: CheckedBuild },
): Promise<CommandOutcome> {
  const { transaction, missing } = await signChecked(session, built.transaction, { keypair })
  if (missing.some((address) => address !== built.fee_payer)) throw failure(`not signed by ${missing.join(', ')}`)
  const { data } = await session.client.sponsorships.submit({ id, claim: built.id, transaction })
  const { signature, lamports } = data
  const fields = { airdrop: id, fee_payer: built.fee_payer, sponsored_lamports: lamports }
  const signatures = { signatures: { signature }, decimals: { sponsored_lamports: LAMPORT_DECIMALS } }
  if (wait === 'none') return sentOutcome(fields, undefined, signatures)
  const confirmed = await waitForTransaction(session, signature, wait)
  if (confirmed.lifecycle === 'failed') throw await transactionFailure(session, transaction, confirmed)
  return sentOutcome(fields, confirmed, signatures)
}

/**
 * Throws a failure if the run takes lamports from the claimer. A checked claim can take only the rent that its claim
 * record lacks. Only the run shows that sum: the rate of rent differs, and anyone may have sent some already.
 */
function requireFreeOfCost({ balance_changes }: Pick<Simulation, 'balance_changes'>, claimer: string): void {
  const own = balance_changes.find(({ address, mint }) => address === claimer && mint === null)
  if (own === undefined || BigInt(own.change) >= 0n) return
  throw unexpectedBuild(`${claimer} would pay ${solText(-BigInt(own.change))} of it`)
}

const { submit, get, simulate, forecast } = paths.transactions

const claimAirdropFlags = {
  proof: text('JSON of `svc merkle proof -o json`, if no tree is stored; - for standard input', {
    placeholder: 'FILE',
  }),
  // The platform wallet signs the claim as it was built, and the swap follows a claim that has landed.
  sponsor: toggle('The platform wallet pays fee and rent, if it sponsors the airdrop', {
    conflicts: ['squads', 'proof', 'swap_to_sol', 'build_only'],
  }),
  swap_to_sol: toggle('Then sell what was claimed for SOL, through the pool of the token', {
    conflicts: ['squads', 'build_only', 'wait=none'],
  }),
  min_sol: text('Least SOL to accept from --swap-to-sol; required without a terminal or with --yes', {
    placeholder: 'SOL',
    needs: ['swap_to_sol'],
  }),
  ...PLATFORM,
  ...SIGNING,
}

export const airdropClaimVerb = verb({
  about: 'Claim what your wallet is owed',
  details:
    'Claims for the wallet of your keypair. Amount and proof come from the stored tree, or from --proof. With --swap-to-sol a second transaction follows once the claim has landed. With --sponsor the wallet needs no SOL; the API key needs the scope airdrop:admin.',
  calls: [paths.airdrops.claim, paths.sponsorships.build, paths.sponsorships.submit, simulate, forecast, submit, get],
  args: { id: required(text('Id of the airdrop')) },
  flags: claimAirdropFlags,
  examples: [
    'svc airdrops claim 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw -k wallet.json',
    'svc airdrops claim 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --sponsor -k poor.json',
    'svc airdrops claim 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --swap-to-sol --min-sol 0.05 --yes',
  ],
  async run({ id, sponsor, ...input }, session) {
    if (sponsor) return claimSponsored(session, id, input)
    const least = leastOf(input, session)
    const entry = input.proof === undefined ? { amount: '0' } : await readClaimProof(input.proof)
    const body = {
      id,
      platform_id: input.platform_id ?? DEFAULT_PLATFORM,
      platform_fee: input.platform_fee ?? 0,
      swap_to_sol: input.swap_to_sol,
      ...entry,
    }
    let swap: string | null = null
    let amount: bigint | null = 0n
    const claimed = await runSigned<AirdropClaimCreated>(session, input, {
      what: `Claim from the airdrop ${id}`,
      async build(claimer) {
        const { data } = await session.client.airdrops.claim({ ...buildFields(input), ...body, claimer })
        swap = data.swap_transaction
        return { data }
      },
      demand: (of) =>
        demandsClaim(of, {
          body: { ...body, claimer: of.payer },
          proven: input.proof === undefined ? undefined : entry.amount,
          onAmount: (units) => {
            amount = units
          },
        }),
      follows: ({ swap_transaction }) => (swap_transaction === null ? [] : [swap_transaction]),
      show: () => ({ airdrop: id }),
    })
    return swap === null || input.dry_run ? claimed : sell(session, input, { id, swap, amount, least }, claimed)
  },
})

/** Sells what was claimed. The claim is confirmed by now, so a failure reports that it was claimed but not sold. */
async function sell(
  session: Session,
  input: Omit<InputValues<typeof claimAirdropFlags>, 'sponsor'>,
  { id, swap, amount, least }: { id: string; swap: string; amount: bigint | null; least: bigint | null },
  claimed: CommandOutcome,
): Promise<CommandOutcome> {
  try {
    const { data } = await runSigned(session, input, {
      what: 'Sell what was claimed for SOL',
      build: async () => ({ data: { transaction: swap } }),
      // The API chooses the pool and its price; the preview shows both.
      async demand(of) {
        const trade = { payer: of.payer, paid: (await parseAirdropId(id)).mint, received: WRAPPED_SOL, amount }
        if (amount === null) of.apiSays('how much of it has vested and is sold', '--swap-to-sol')
        const pool = (address: string) => {
          of.note(`pool ${address}, which the API chose`)
          return true
        }
        const isEnough = (lamports: string) => {
          of.note(`at least ${solOf(BigInt(lamports))} SOL`)
          return least === null || BigInt(lamports) >= least
        }
        return demandsSwap(of, { ...trade, pool, least: isEnough })
      },
    })
    const { signature } = data as { signature: string }
    return { ...claimed, data: { ...(claimed.data as object), swap_signature: signature } }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { signature } = claimed.data as { signature: string }
    throw failure(`it was claimed (${signature}), but not sold: ${error.message}`, {
      next: 'sell it with `svc pools swap POOL --sell AMOUNT`',
      details: { ...error.details, claim_signature: signature },
      cause: error,
    })
  }
}

/** The least lamports that a sale must bring. No other limit exists, because the API chooses pool and price. */
function leastOf(
  { min_sol, swap_to_sol, dry_run }: Pick<InputValues<typeof claimAirdropFlags>, 'min_sol' | 'swap_to_sol' | 'dry_run'>,
  { ui }: Session,
): bigint | null {
  if (min_sol !== undefined) return rawUnits(min_sol, LAMPORT_DECIMALS, '--min-sol')
  if (!swap_to_sol || dry_run || ui.attended) return null
  throw usage('--swap-to-sol needs --min-sol without a terminal, or with --yes: the API chooses pool and price', {
    param: '--min-sol',
  })
}

async function readClaimProof(file: string): Promise<{ amount: string; amount_locked?: string; proof: string[] }> {
  const wrong = (what: string) =>
    usage(`${file}: ${what}`, { param: '--proof', next: 'make one with: svc merkle proof … -o json' })
  const parsed = (await readJson(file, wrong)) as { data?: unknown } | null
  const { amount, amount_locked, proof } = (parsed?.data ?? parsed ?? {}) as Record<string, unknown>
  const isAmount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,20}$/.test(value)
  if (!isAmount(amount)) throw wrong('it has no amount in raw units')
  if (amount_locked !== undefined && !isAmount(amount_locked)) throw wrong('its amount_locked is not in raw units')
  if (!Array.isArray(proof) || !proof.every((hash) => typeof hash === 'string')) throw wrong('it has no list of hashes')
  return { amount, ...(amount_locked === undefined ? {} : { amount_locked }), proof }
}
