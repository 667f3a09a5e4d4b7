/** Creates a raise: checks its terms, its mints and its creator, previews its results, and builds its accounts. */
import type { TransactionInstruction } from '@solana/web3.js'
import type { Api } from '../../api/index.ts'
import type { RaiseCreated } from '../../api/raises.ts'
import type { Result } from '../../api/route.ts'
import { readPairPool } from '../../chain/programs/damm-v2/index.ts'
import { memoInstruction } from '../../chain/programs/memos.ts'
import {
  creationInstruction,
  fixedPriceInstruction,
  RAISE_UNITS,
  type RaisePlace,
  raisePlace,
} from '../../chain/programs/presale/index.ts'
import { requireProgram } from '../../chain/programs/required-program.ts'
import { sdkInstructions } from '../../chain/programs/sdk-instruction.ts'
import { readRentRate } from '../../chain/reads/rpc-reads.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import { compileAnySize, type Envelope, roomOf, type UnsignedTransaction } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import type { ApiError } from '../../platform/errors.ts'
import { RAISE_MEMO } from '../../solana/memos.ts'
import { PRESALE } from '../../solana/programs/presale.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { beforeDeposits, previewRaise } from '../../solana/raise-preview.ts'
import type { RaiseTerms } from '../../solana/raises.ts'
import { recipientNote } from '../../solana/recipients.ts'
import { vaultAddress } from '../../solana/squads/index.ts'
import { feeInEpoch, sentFor } from '../../solana/transfer-fees.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import { findRaise, insertRaise, updateRaise } from '../../store/resources/raises.ts'
import type { Tx } from '../../store/store.ts'
import { inEitherMode, type PlannedBuild } from '../act.ts'
import { buildTransaction, newKey, trackingOf } from '../building.ts'
import { proofOfDecimals } from '../locks/checks.ts'
import { requireMultisig } from '../proposals/squads/acting-vault.ts'
import { recipientFaults } from '../recipients.ts'
import { fieldFault, refuseFirst, type Said, warned } from '../sentences.ts'
import { mintWarnings, readRaiseMints, requireTokens, vaultBytes } from './mints.ts'
import { termsRecord } from './record.ts'
import { throwRaiseRefusal } from './require-raise.ts'
import { type CreateInput, checkedTerms, termWarnings } from './terms.ts'

/** What both modes answer. */
type Summary = Omit<Extract<RaiseCreated, { mode: 'signed' }>, 'mode' | 'signature'>

/** Time of the first look for a raise that was built, and perhaps never sent. */
const FIRST_LOOK_MS = 60_000

export async function createRaise(context: Context, input: CreateInput): Promise<Result<Api['raises']['create']>> {
  const genesis = await context.chain.genesisHash()
  const record = (tx: Tx, summary: object) => storeRaise(tx, newRow(context, input, genesis, summary as Summary))
  const plan = (payer: string) => planCreation(context, { ...input, payer })
  const answer = await inEitherMode(context, input, 'raise.create', plan, { record, isCheckedAgain: true })
  return answer as Result<Api['raises']['create']>
}

async function planCreation(context: Context, input: CreateInput): Promise<PlannedBuild<Summary>> {
  const { chain } = context
  const { payer, pool } = input
  const mints = await readRaiseMints(context, input)
  const { at, token, quote } = mints
  const decimals = { token: token.decimals, quote: quote.decimals }
  const terms = checkedTerms(input, { now: BigInt(at.unixSeconds), decimals })
  requireSettler(input)
  const { creator, signs, warning: ofCreator } = await creatorOf(context, input)
  if (pool !== undefined) await requireNoPool(context, { mint: token.mint, quote: quote.mint, creator })
  const transferFee = feeInEpoch(token.extensions, at.epoch)
  const deposit = sentFor(transferFee, terms.supply)
  if (deposit > MAX_U64) throw fieldFault('supply: with the transfer fee it is more than a token account can hold')
  const needed = { payer, creator, deposit, reserve: BigInt(pool?.reserve ?? 0) }
  const tokens = await requireTokens(context, token, needed)
  const key = newKey(context)
  const placeOf = (base: string) =>
    raisePlace({
      ...{ base, mint: token.mint, quoteMint: quote.mint },
      ...{ tokenProgram: token.tokenProgram, quoteTokenProgram: quote.tokenProgram },
    })
  let place = placeOf(key.address)
  const raise = beforeDeposits({ ...place, ...terms, creator, createdAt: BigInt(at.unixSeconds) })
  const rentOf = await readRentRate(chain)
  const kept = [PRESALE.sizeOf('presale'), vaultBytes(token), vaultBytes(quote)].reduce(
    (sum, bytes) => sum + rentOf(bytes),
    0n,
  )
  const parties = { payer, creator, from: tokens.from, signs }
  // Whoever converted whole tokens signs; the platform wallet is asked for raw units.
  const proof = input.mode === 'signed' ? [] : [await proofOfDecimals(payer, token)]
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.presale,
    fallbackUnits: RAISE_UNITS.create,
    onFailedSimulation: throwRaiseRefusal,
    build: async (envelope) => {
      // Without a key of its own, a raise saves a key and a signature, and has the one address of its payer.
      const made = await buildCreation(envelope, place, terms, { ...parties, proof })
      if (hasRoom(made, envelope)) return { ...made, secretKeys: place.base === payer ? [] : [key.secretKey] }
      const smaller = placeOf(payer)
      const built = await buildCreation(envelope, smaller, terms, { ...parties, proof })
      // What waits for approvals can do so for days, and another build would meanwhile take its row.
      const waits = context.vaultActing !== undefined || input.mode === 'signed'
      if (waits || (await isTaken(chain, smaller)) || !hasRoom(built, envelope)) throw noRoom(made, envelope, terms)
      place = smaller
      return built
    },
  })
  const signatures = built.requiredSigners.length + built.cosigners.length
  const planned = { raise, plan: pool ?? null, decimals, transferFee, rentOf, signatures }
  const { fault: unopened, ...preview } = previewRaise(planned)
  if (unopened !== null) throw fieldFault(`pool: The pool ${unopened}`)
  const { address: id } = place
  const summary = {
    id,
    ...termsRecord(raise, decimals),
    deposit: String(deposit),
    received: String(terms.supply),
    rent: String(kept + (terms.price === null ? 0n : rentOf(PRESALE.sizeOf('fixed_price_presale_extra_args')))),
    rent_kept: String(kept),
    preview,
    ...warned([
      ...termWarnings(terms, { input, decimals, quoteMint: quote.mint }),
      chain.cluster.kind === 'embedded' &&
        pool?.when === 'before_end' &&
        pool.opens_after_seconds >= 30 &&
        'pool.opens_after_seconds: the usual DAMM v2 build of the embedded chain opens a pool at most 30 seconds before its first trade, so not before the end: send 15, and settle in the last 15 seconds',
      ...mintWarnings(mints),
      ...tokens.warnings,
      ofCreator,
    ]),
  }
  return { built, summary, tracked: trackingOf('raise', id, []), about: `${id}, paid to ${creator}` }
}

interface Parties {
  payer: string
  creator: string
  /** Account of the tokens for sale. */
  from: string
  /** Whether the creator signs beside the payer, which the program does not demand. */
  signs: boolean
}

/** The base signs, too. */
async function buildCreation(
  envelope: Envelope,
  place: RaisePlace,
  terms: RaiseTerms,
  { proof, ...parties }: Parties & { proof: TransactionInstruction[] },
) {
  const sdk = await sdkInstructions()
  const { price, withdrawable } = terms
  const { payer, creator, signs } = parties
  return compileAnySize(envelope, [
    ...proof,
    ...(price === null ? [] : [sdk(fixedPriceInstruction(place, { payer, owner: creator, price, withdrawable }))]),
    sdk(creationInstruction(place, { ...terms, ...parties })),
    ...(signs ? [await memoInstruction(RAISE_MEMO, [creator])] : []),
  ])
}

const hasRoom = ({ transaction }: UnsignedTransaction, envelope: Envelope): boolean =>
  transaction.length <= roomOf(envelope)

/** Anyone can make the account of a price for an address that is known, so both must be free. */
async function isTaken(chain: Context['chain'], { address, fixedPriceArgs }: RaisePlace): Promise<boolean> {
  return (await accountsAt(chain, [address, fixedPriceArgs])).some((account) => account !== null)
}

function noRoom({ transaction }: UnsignedTransaction, envelope: Envelope, { rounds }: RaiseTerms): ApiError {
  const [bytes, room] = [transaction.length, roomOf(envelope)]
  return fieldFault(
    `tx_version: the creation of ${rounds.length} rounds has ${bytes} bytes, and version 0 takes ${room}: send tx_version 1, or fewer rounds`,
    { bytes, room },
  )
}

/** A pair has one custom pool, so the planned one could never open. */
async function requireNoPool({ chain }: Context, pair: { mint: string; quote: string; creator: string }) {
  const found = await readPairPool(chain, pair)
  if (found === null) return
  throw fieldFault(
    `pool: ${found.creator} has opened the pool of this pair already, ${found.address}, and a pair has only one: leave pool out`,
    { pool_address: found.address, creator: found.creator },
  )
}

const requireSettler = ({ settle, mode, creator_vault: vault }: CreateInput): void =>
  refuseFirst(
    settle &&
      (mode !== 'signed' || vault !== undefined) &&
      'settle: a worker settles only raises whose creator is the platform wallet: send mode: signed without creator_vault, or leave settle out',
  )

/**
 * The program accepts any creator and never changes it, so that a mistyped one loses all that is raised: it signs here,
 * or is the vault of a multisig that exists.
 */
async function creatorOf(
  context: Context,
  input: CreateInput,
): Promise<Pick<Parties, 'creator' | 'signs'> & { warning: Said }> {
  const { payer, creator = payer, creator_vault: vault, mode } = input
  if (vault !== undefined) {
    if (input.creator !== undefined) throw fieldFault('creator: send either creator or creator_vault')
    await requireProgram(context.chain, PROGRAMS.squads)
    const { address, configAuthority } = await requireMultisig(context, vault, 'creator_vault')
    const warning =
      configAuthority !== null &&
      `${configAuthority} can change members and rules of the multisig ${address} without them`
    return { creator: vaultAddress(address, vault.vault_index), signs: false, warning }
  }
  if (creator === payer) return { creator, signs: false, warning: false }
  const [found] = await recipientFaults(context, [{ param: 'creator', wallet: creator }], { allowsPrograms: false })
  const details = { wallet: creator, reason: found?.reason }
  if (found?.reason === 'off_curve' || found?.reason === 'program_owned') {
    throw fieldFault(
      `creator: ${creator} is an address of a program, which cannot sign: for the vault of a Squads multisig send creator_vault`,
      details,
    )
  }
  if (found !== undefined) throw fieldFault(`creator: ${creator} ${recipientNote(found.reason, creator)}`, details)
  refuseFirst(
    mode === 'signed' &&
      'creator: with mode "signed" it is the platform wallet, or the vault of creator_vault: leave it out, or use mode "unsigned"',
  )
  return { creator, signs: true, warning: false }
}

/** Time in which a build of this service can land, with room to spare. */
const LANDS_WITHIN_MS = 180_000
const TERM_COLUMNS = ['creator', 'sale_mode', 'min', 'max', 'supply', 'ends_at', 'pool_json', 'creator_vault'] as const

/**
 * Replaces an earlier build of the same address, which only the payer's own base has. Throws bad_request while that one
 * can land with other terms, which this row would not have.
 */
async function storeRaise(tx: Tx, row: ReturnType<typeof newRow>): Promise<void> {
  if ((await insertRaise(tx, row)) !== null) return
  const before = await findRaise(tx, row.id)
  if (before === null) throw new Error(`the raise ${row.id} is neither new nor stored`)
  const canLand = row.created_at < before.created_at + LANDS_WITHIN_MS
  refuseFirst(
    canLand &&
      TERM_COLUMNS.some((field) => before[field] !== row[field]) &&
      `tx_version: another build of the raise ${row.id} can still land: repeat this request in three minutes, or send tx_version 1`,
  )
  const { id, ...changes } = row
  await updateRaise(tx, id, changes)
}

const newRow = (context: Context, input: CreateInput, genesis: string, summary: Summary) => {
  const now = context.clock.now()
  const { externalUid, metadata, vaultActing } = context
  const { id, mint, quote_mint, creator, sale_mode, min, max, supply } = summary
  const acting = vaultActing?.vault === creator ? vaultActing : undefined
  const vault = input.creator_vault ?? (acting && { ...acting, vault_index: acting.vaultIndex })
  return {
    ...{ id, genesis, mint, quote_mint, creator, sale_mode, min, max, supply },
    state: 'pending' as const,
    ends_at: Date.parse(summary.ends_at),
    pool_json: input.pool === undefined ? null : JSON.stringify(input.pool),
    settle: input.settle ? (1 as const) : (0 as const),
    creator_vault: vault === undefined ? null : `${vault.multisig}:${vault.vault_index}`,
    next_check_at: now + FIRST_LOOK_MS,
    external_uid: externalUid ?? null,
    metadata_json: metadata === undefined ? null : JSON.stringify(metadata),
    created_at: now,
  }
}
