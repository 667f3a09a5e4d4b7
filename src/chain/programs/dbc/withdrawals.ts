/**
 * Builds the one-time withdrawals from a launch curve, surplus, migration fee, leftover and pool creation fee, and the
 * transfer of the creator's role.
 */

import type { TransactionInstruction } from '@solana/web3.js'
import type { Beneficiary } from '../../../api/fee-claims.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { baseAccount, openDbc, quoteAccount } from './program.ts'
import type { ClaimedPool, DbcPool } from './types.ts'

/** Compute limits for withdrawals that cannot be simulated: half more than the largest run used. */
export const WITHDRAWAL_UNITS = {
  surplus: 50_000,
  migration_fee: 50_000,
  leftover: 73_000,
  pool_creation_fee: 20_000,
} as const

/** The `flag` of withdraw_migration_fee. */
const MIGRATION_FEE_OF = { partner: 0, creator: 1 } as const

interface QuoteWithdrawal extends Envelope {
  kind: 'surplus' | 'migration_fee'
  pool: Pick<ClaimedPool, 'address' | 'config' | 'quoteMint' | 'quoteVault' | 'quoteProgram'>
  beneficiary: Beneficiary
  /** The fee claimer of the pool's config, or the pool's creator, which signs and receives it. */
  claimer: string
}

interface LeftoverWithdrawal extends Envelope {
  pool: Pick<DbcPool, 'address' | 'config' | 'baseMint' | 'baseVault' | 'baseProgram' | 'leftoverReceiver'>
}

interface CreationFeeWithdrawal extends Envelope {
  pool: Pick<DbcPool, 'address' | 'config' | 'feeClaimer'>
}

/** Withdraws a party's part of the surplus or of the migration fee of a full curve, which works once for each. */
export async function buildQuoteWithdrawal(withdrawal: QuoteWithdrawal): Promise<UnsignedTransaction> {
  const { key } = await openDbc()
  const { pool, claimer, payer } = withdrawal
  const quote = await quoteAccount(pool, key(claimer), key(pool.quoteMint === WRAPPED_SOL ? claimer : payer))
  const take = await takeQuote(withdrawal, quote)
  return compileUnsigned(withdrawal, [quote.open, take, ...(quote.unwrap === null ? [] : [quote.unwrap])])
}

async function takeQuote(
  { kind, beneficiary, pool, claimer }: QuoteWithdrawal,
  { address, program }: Awaited<ReturnType<typeof quoteAccount>>,
): Promise<TransactionInstruction> {
  const { methods, key, poolAuthority, events } = await openDbc()
  const accounts = {
    poolAuthority,
    config: key(pool.config),
    virtualPool: key(pool.address),
    tokenQuoteAccount: address,
    quoteVault: key(pool.quoteVault),
    quoteMint: key(pool.quoteMint),
    tokenQuoteProgram: program,
    ...events,
  }
  if (kind === 'migration_fee') {
    return methods
      .withdrawMigrationFee(MIGRATION_FEE_OF[beneficiary])
      .accountsStrict({ ...accounts, sender: key(claimer) })
      .instruction()
  }
  return beneficiary === 'creator'
    ? methods
        .creatorWithdrawSurplus()
        .accountsStrict({ ...accounts, creator: key(claimer) })
        .instruction()
    : methods
        .partnerWithdrawSurplus()
        .accountsStrict({ ...accounts, feeClaimer: key(claimer) })
        .instruction()
}

/** Pays the tokens left after the migration to the leftover receiver, whoever sends the transaction. */
export async function buildLeftoverWithdrawal(withdrawal: LeftoverWithdrawal): Promise<UnsignedTransaction> {
  const { methods, key, poolAuthority, events } = await openDbc()
  const { pool } = withdrawal
  const receiver = key(pool.leftoverReceiver)
  const token = await baseAccount(pool, receiver, key(withdrawal.payer))
  const take = await methods
    .withdrawLeftover()
    .accountsStrict({
      poolAuthority,
      config: key(pool.config),
      virtualPool: key(pool.address),
      tokenBaseAccount: token.address,
      baseVault: key(pool.baseVault),
      baseMint: key(pool.baseMint),
      leftoverReceiver: receiver,
      tokenBaseProgram: token.program,
      ...events,
    })
    .instruction()
  return compileUnsigned(withdrawal, [token.open, take])
}

/** Pays the partner's part of the pool creation fee, which lies in the pool's own lamports, to the fee claimer. */
export async function buildCreationFeeWithdrawal(withdrawal: CreationFeeWithdrawal): Promise<UnsignedTransaction> {
  const { methods, key, events } = await openDbc()
  const { pool } = withdrawal
  const feeClaimer = key(pool.feeClaimer)
  const take = await methods
    .claimPartnerPoolCreationFee()
    .accountsStrict({
      config: key(pool.config),
      pool: key(pool.address),
      feeClaimer,
      feeReceiver: feeClaimer,
      ...events,
    })
    .instruction()
  return compileUnsigned(withdrawal, [take])
}

/** Compute limit for a transfer that cannot be simulated: half more than the largest run used. */
export const CREATOR_TRANSFER_UNITS = 20_000

interface CreatorTransfer extends Envelope {
  pool: Pick<DbcPool, 'address' | 'config' | 'creator'>
  /**
   * Address that becomes the creator. The program accepts any address except the present creator, even one without a
   * key.
   */
  newCreator: string
}

/** Transfers the role with everything that was not claimed yet. The pool's creator signs. The program refuses it (6022) between the end of the curve and its migration. */
export async function buildCreatorTransfer(transfer: CreatorTransfer): Promise<UnsignedTransaction> {
  const { methods, key, events } = await openDbc()
  const { pool, newCreator } = transfer
  const instruction = await methods
    .transferPoolCreator()
    .accountsStrict({
      virtualPool: key(pool.address),
      config: key(pool.config),
      creator: key(pool.creator),
      newCreator: key(newCreator),
      ...events,
    })
    .instruction()
  return compileUnsigned(transfer, [instruction])
}
