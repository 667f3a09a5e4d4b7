/** `svc airdrops claim`: a wallet's share, claimed with its own keypair and, on request, sold for SOL. */
import type { AirdropClaimCreated } from '../../src/api/airdrops.ts'
import { paths } from '../../src/api/paths.ts'
import { ApiError } from '../../src/errors.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { type CommandOutcome, type InputValues, required, text, toggle, verb } from '../command.ts'
import type { Session } from '../session.ts'
import { DEMANDS } from '../signing/demands.ts'
import { buildFields, SIGNING } from '../signing/flags.ts'
import { DEFAULT_PLATFORM, PLATFORM } from '../signing/platform-flags.ts'
import { runSigned } from '../signing/run.ts'
import { readText } from '../ui/files.ts'
import { failure, usage } from '../ui/problem.ts'
import { airdropOf } from './airdrop-id.ts'
import { claimSponsored } from './sponsored-claim.ts'

const { submit, get, simulate } = paths.transactions

const claimAirdropFlags = {
  proof: text('JSON of `svc merkle proof -o json`, where no tree is stored; - for standard input', {
    placeholder: 'FILE',
  }),
  sponsor: toggle('Have the platform wallet pay fee and rent, where it sponsors the airdrop'),
  swap_to_sol: toggle('Then sell what was claimed for SOL, through the pool of the token'),
  ...PLATFORM,
  ...SIGNING,
}

export const airdropClaimVerb = verb({
  about: 'Claim what your wallet is owed',
  details:
    'The wallet is that of the keypair. Amount and proof come from the stored tree, or from --proof. With --swap-to-sol a second transaction follows once the claim has landed. With --sponsor the wallet needs no SOL, and the API key the scope airdrop:admin.',
  calls: [paths.airdrops.claim, paths.sponsorships.build, paths.sponsorships.submit, simulate, submit, get],
  args: { id: required(text('Id of the airdrop')) },
  flags: claimAirdropFlags,
  examples: [
    'svc airdrops claim 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw -k wallet.json',
    'svc airdrops claim 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --sponsor -k poor.json',
    'svc airdrops claim 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --swap-to-sol --yes',
  ],
  async run({ id, sponsor, ...input }, session) {
    if (sponsor) return claimSponsored(session, id, input)
    if (input.swap_to_sol && (input.build_only || input.wait === 'none')) {
      const shown = input.build_only ? '--build-only' : '--wait none'
      throw usage(`${shown} does not go with --swap-to-sol: the swap follows a claim that has landed`, { param: shown })
    }
    const entry = input.proof === undefined ? { amount: '0' } : await readClaimProof(input.proof)
    let swap: string | null = null
    let amount = 0n
    const claimed = await runSigned<AirdropClaimCreated>(session, input, {
      what: `Claim from the airdrop ${id}`,
      async build(claimer) {
        const { data } = await session.client.airdrops.claim({
          ...buildFields(input),
          id,
          claimer,
          platform_id: input.platform_id ?? DEFAULT_PLATFORM,
          platform_fee: input.platform_fee ?? 0,
          swap_to_sol: input.swap_to_sol,
          ...entry,
        })
        swap = data.swap_transaction
        amount = BigInt(data.amount)
        return { data }
      },
      demand: async (of) =>
        DEMANDS['airdrops claim'](of, {
          ...(await airdropOf(id)),
          claimer: of.payer,
          platform_fee: input.platform_fee ?? 0,
          amount: input.proof === undefined ? undefined : entry.amount,
        }),
      show: () => ({ airdrop: id }),
    })
    return swap === null || input.dry_run ? claimed : sell(session, input, { id, swap, amount }, claimed)
  },
})

/** Sells what was claimed. The claim is confirmed by now, so a failure reports that it was claimed but not sold. */
async function sell(
  session: Session,
  input: Omit<InputValues<typeof claimAirdropFlags>, 'sponsor'>,
  { id, swap, amount }: { id: string; swap: string; amount: bigint },
  claimed: CommandOutcome,
): Promise<CommandOutcome> {
  try {
    const { data } = await runSigned(session, input, {
      what: 'Sell what was claimed for SOL',
      build: async () => ({ data: { transaction: swap } }),
      // Which pool it is, and what it pays, is the API's word: the preview shows both.
      async demand(of) {
        const trade = { payer: of.payer, paid: (await airdropOf(id)).mint, received: WRAPPED_SOL, amount }
        const noted = (name: string) => (value: string) => {
          of.note(`${name} ${value}`)
          return true
        }
        return DEMANDS['pools swap'](of, { ...trade, pool: noted('pool'), least: noted('at least, in lamports:') })
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

async function readClaimProof(file: string): Promise<{ amount: string; proof: string[] }> {
  const wrong = (what: string) =>
    usage(`${file}: ${what}`, { param: '--proof', next: 'make one with: svc merkle proof … -o json' })
  let parsed: { data?: unknown } | null
  try {
    parsed = JSON.parse(await readText(file))
  } catch (error) {
    if (error instanceof SyntaxError) throw wrong('it is not JSON')
    throw error
  }
  const { amount, proof } = (parsed?.data ?? parsed ?? {}) as { amount?: unknown; proof?: unknown }
  if (typeof amount !== 'string' || !/^\d{1,20}$/.test(amount)) throw wrong('it has no amount in raw units')
  if (!Array.isArray(proof) || !proof.every((hash) => typeof hash === 'string')) throw wrong('it has no list of hashes')
  return { amount, proof }
}
