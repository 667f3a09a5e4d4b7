/** Lists the calls that put an airdrop on chain and fund it, and those with which a wallet claims its part. */
import { CLAWBACK_DAYS, PROPOSED_START_DAYS } from '../../src/api/airdrop-terms.ts'
import { DAY_SECONDS } from '../../src/platform/timing.ts'
import { bytesOfHex } from '../../src/solana/bytes.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { MERKLE_DISTRIBUTOR } from '../../src/solana/programs/merkle-distributor.ts'
import { anyValue, type Call, opens, pays, platformFee, type Signing } from './demand.ts'

export interface AskedAirdrop {
  mint: string
  airdrop_count: number
  root: string
  /** The caps of the distributor; null if no tree is stored, so that none were agreed. */
  total: string | null
  leaf_count: number | null
  /** Raw units of the deposit; null if only the API knows them, because nobody here has seen the total. */
  deposit: string | null
  /** When locked amounts vest, in ISO 8601, if that was agreed. */
  vesting: { starts_at?: string; ends_at?: string }
  /** Days from the end of the vesting until the rest can be withdrawn. */
  clawback_after_days: number | undefined
  /** Whether a multisig does it later, so that it starts days from now. */
  isProposed: boolean
}

/** The rest goes back to the account of the deposit. */
export async function opensAirdrop(of: Signing, asked: AskedAirdrop): Promise<Call[]> {
  const { payer } = of
  const { mint, airdrop_count, deposit, vesting, isProposed } = asked
  const isAt = isProposed ? isProposedAt : isAtOrNow
  const own = await of.accounts(mint, payer)
  const { distributor, vault } = await of.claim(mint, airdrop_count, payer)
  const clawbackAfter = BigInt((asked.clawback_after_days ?? CLAWBACK_DAYS.fallback) * DAY_SECONDS)
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
        root: asked.root.toLowerCase().replace(/^0x/, ''),
        max_total_claim: asked.total ?? anyValue,
        max_num_nodes: asked.leaf_count ?? anyValue,
        start_vesting_ts: isAt(of, vesting.starts_at),
        end_vesting_ts: (seconds) => {
          ends = BigInt(seconds)
          return isAt(of, vesting.ends_at)(seconds)
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

export interface AskedOwnClaim {
  mint: string
  airdrop_count: number
  claimer: string
  /** Raw units paid at once, if the caller has its own proof. */
  amount?: string | undefined
  platform_fee: number
  /** Called with the amount paid at once, which the program proves; null if vested amounts come with it. */
  onAmount?(units: bigint | null): void
}

/** The payer is the claimer, or a sponsor that pays the rent of the claim's record. */
export async function claimsAirdrop(of: Signing, asked: AskedOwnClaim): Promise<Call[]> {
  const { mint, claimer } = asked
  const { distributor, claimStatus, vault, tokenAccount } = await of.claim(mint, asked.airdrop_count, claimer)
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
          asked.onAmount?.(BigInt(units))
          return asked.amount === undefined || units === asked.amount
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
        asked.onAmount?.(null)
        return MERKLE_DISTRIBUTOR.argsOf('claim_locked', bytesOfHex(hex)) !== null
      },
      group: 'claim',
      mostOfGroup: 2,
    },
    ...platformFee(claimer, asked.platform_fee),
  ]
}
