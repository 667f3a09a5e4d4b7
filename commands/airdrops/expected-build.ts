/** Checks locally, whatever the API says, that a transaction is what the user agreed to: this airdrop, this sum and nothing else. */
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import { MAX_COMPUTE_UNITS } from '../../src/solana/constants.ts'
import { priorityFee } from '../../src/solana/fees.ts'
import { decodeComputeBudget } from '../../src/solana/instructions/compute-budget.ts'
import { decodeInstruction } from '../../src/solana/instructions/index.ts'
import { decodeNewDistributor } from '../../src/solana/instructions/merkle-distributor.ts'
import { ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { TransactionContent } from '../signing/wallet.ts'
import { failure } from '../ui/problem.ts'
import type { VestingTimes } from './vesting-flags.ts'

type BuiltInstruction = TransactionContent['instructions'][number]

/** The airdrop that the user agreed to. */
export interface AgreedAirdrop extends Pick<TreeRecord, 'airdrop_count' | 'root' | 'mint'> {
  /** The caps of the distributor; null where no tree is stored, and so none were agreed to. */
  total: string | null
  leaf_count: number | null
  /** Raw units of the deposit: the total where this is left out, any where it is null. */
  deposit?: string | null
  /** When locked amounts vest, as far as that was agreed to. */
  vesting?: VestingTimes
}

/** The highest priority fee that is signed, in lamports. */
export const MAX_PRIORITY_FEE = 100_000_000n

/**
 * Requires the distributor of this count, root and caps, whose clawback receiver is the account that the deposit comes
 * from, and its one deposit into its vault. The programs enforce the rest. Throws a failure that names the
 * difference.
 */
export function requireExpected(
  { fee_payer, signers, instructions, config }: TransactionContent,
  payer: string,
  record: AgreedAirdrop,
): void {
  const of = (program: string) => instructions.filter((each) => each.program === program)
  const [creation, transfer] = [of(PROGRAMS.distributor.id)[0], of(TOKEN_PROGRAM)[0]]
  const allowed = [COMPUTE_BUDGET_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, PROGRAMS.distributor.id, TOKEN_PROGRAM]
  const unexpected = instructions.find(({ program }) => !allowed.includes(program))
  if (unexpected !== undefined) throw unexpectedBuild(`it calls ${unexpected.program}`)
  if (fee_payer !== payer || signers.length !== 1) throw unexpectedBuild(`${payer} would not be its only signer`)
  if (of(PROGRAMS.distributor.id).length !== 1 || creation === undefined)
    throw unexpectedBuild('it does not make one distributor')
  if (!createsDistributor(creation, record)) throw unexpectedBuild('its count, root, caps or times are others')
  if (of(ASSOCIATED_TOKEN_PROGRAM).length > 1) throw unexpectedBuild('it opens more than one token account')
  // In a transaction of version 1, the instructions have no effect and the message states the fee (SIMD-0385).
  const priority = config === null ? budgetFeeOf(of(COMPUTE_BUDGET_PROGRAM)) : BigInt(config.priority_fee ?? 0)
  if (priority > MAX_PRIORITY_FEE) throw unexpectedBuild('its priority fee is more than 0.1 SOL')
  const deposit = record.deposit === undefined ? record.total : record.deposit
  const deposits = of(TOKEN_PROGRAM).length
  if (deposit === '0' && deposits > 0) throw unexpectedBuild('it makes a deposit, and none was agreed to')
  if (deposits > 1 || (deposits === 0 && deposit !== null && deposit !== '0'))
    throw unexpectedBuild('it does not make one deposit')
  if (transfer !== undefined) requireDeposit(transfer, creation, { payer, deposit, mint: record.mint })
}

function createsDistributor({ data }: BuiltInstruction, record: AgreedAirdrop): boolean {
  const distributor = decodeNewDistributor(bytesFromHex(data))
  return (
    distributor !== null &&
    distributor.version === BigInt(record.airdrop_count) &&
    distributor.root === record.root &&
    (record.total === null || distributor.maxTotal === BigInt(record.total)) &&
    (record.leaf_count === null || distributor.maxNodes === BigInt(record.leaf_count)) &&
    isAgreedTime(distributor.startsAt, record.vesting?.starts_at) &&
    isAgreedTime(distributor.endsAt, record.vesting?.ends_at)
  )
}

const isAgreedTime = (unixSeconds: bigint, agreed: string | undefined): boolean =>
  agreed === undefined || unixSeconds === BigInt(Math.floor(Date.parse(agreed) / 1000))

function requireDeposit(
  { program, data, accounts }: BuiltInstruction,
  creation: BuiltInstruction,
  agreed: { payer: string; deposit: string | null; mint: string },
): void {
  const { payer, mint } = agreed
  const addresses = accounts.map(({ address }) => address)
  const deposit = decodeInstruction(program, addresses, bytesFromHex(data))?.instruction
  const [, receiver, airdropMint, ownVault] = creation.accounts.map(({ address }) => address)
  if (deposit?.type !== 'transferChecked') throw unexpectedBuild('it does not make one deposit')
  if (agreed.deposit !== null && deposit.amount !== BigInt(agreed.deposit))
    throw unexpectedBuild(`it does not deposit ${agreed.deposit}`)
  if (deposit.mint !== mint || airdropMint !== mint) throw unexpectedBuild('it is about another token')
  if (deposit.authority !== payer || deposit.destination !== ownVault)
    throw unexpectedBuild('its deposit does not go from you into its vault')
  // Only the owner of a token account can send from it, so this receiver is an account of the payer.
  if (receiver !== deposit.source)
    throw unexpectedBuild('what is left would go to another account than the deposit comes from')
}

/**
 * The priority fee in lamports. A build with a price and no limit counts with the largest limit, as what the runtime
 * takes instead depends on its instructions.
 */
export function budgetFeeOf(instructions: readonly BuiltInstruction[]): bigint {
  let [units, microLamports]: [bigint | null, bigint | null] = [null, null]
  for (const { data } of instructions) {
    const bytes = bytesFromHex(data)
    const budget = decodeComputeBudget(bytes)
    if (budget === null && (bytes[0] === 2 || bytes[0] === 3)) throw unexpectedBuild('its priority fee cannot be read')
    if (budget?.type === 'setComputeUnitLimit') units ??= BigInt(budget.units)
    if (budget?.type === 'setComputeUnitPrice') microLamports ??= budget.microLamports
  }
  return priorityFee(units ?? BigInt(MAX_COMPUTE_UNITS), microLamports ?? 0n)
}

export const bytesFromHex = (hex: string) => Buffer.from(hex, 'hex')

export const unexpectedBuild = (difference: string) =>
  failure(`the API built another transaction than was agreed to: ${difference}; nothing was signed`, {
    next: 'check which API answers: `svc config list`',
  })
