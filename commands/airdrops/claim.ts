/** `svc airdrops claim`: a wallet's share, claimed with its own keypair and, on request, sold for SOL. */
import type { AirdropClaimCreated } from '../../src/api/airdrops.ts'
import { paths } from '../../src/api/paths.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import { type CommandOutcome, type InputValues, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { demandsSwap } from '../pools/trade-demand.ts'
import { buildFields, SIGNING } from '../signing/flags.ts'
import { DEFAULT_PLATFORM, PLATFORM } from '../signing/platform-flags.ts'
import { runSigned } from '../signing/run.ts'
import { readText } from '../ui/files.ts'
import { failure, usage } from '../ui/problem.ts'
import { parseAirdropId } from './airdrop-id.ts'
import { claimSponsored, demandsClaim } from './sponsored-claim.ts'

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
  let parsed: { data?: unknown } | null
  try {
    parsed = JSON.parse(await readText(file))
  } catch (error) {
    if (error instanceof SyntaxError) throw wrong('it is not JSON')
    throw error
  }
  const { amount, amount_locked, proof } = (parsed?.data ?? parsed ?? {}) as Record<string, unknown>
  const isAmount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,20}$/.test(value)
  if (!isAmount(amount)) throw wrong('it has no amount in raw units')
  if (amount_locked !== undefined && !isAmount(amount_locked)) throw wrong('its amount_locked is not in raw units')
  if (!Array.isArray(proof) || !proof.every((hash) => typeof hash === 'string')) throw wrong('it has no list of hashes')
  return { amount, ...(amount_locked === undefined ? {} : { amount_locked }), proof }
}
