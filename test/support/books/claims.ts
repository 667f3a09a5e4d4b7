/** Claims of a scenario by every party, through the service and past it, each of exactly what the accounts say is due. */
import { DynamicBondingCurveClient } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { Keypair, PublicKey } from '@solana/web3.js'
import { expect } from 'vitest'
import { splitAmount } from '../../../src/operations/fee-claims/plan-claim.ts'
import { addressOf } from '../pool-platform.ts'
import { WALLET_RENT } from '../rent.ts'
import { type Amounts, type CurveState, PARTIES } from './curve-state.ts'
import { claimElsewhere, positionClaimsElsewhere, positionsElsewhere, protocolClaims } from './elsewhere.ts'
import { type BooksStep, stepText } from './scenario.ts'
import type { Held, World } from './world.ts'

export type ClaimStep = Extract<BooksStep, { act: 'claim' }>

/** A tenth of a pool creation fee is Meteora's. */
const PROTOCOL_PART = 10n

interface Due extends Amounts {
  /** Of the pool's own, beside its vaults. */
  lamports: bigint
}

export async function claim(world: World, step: ClaimStep): Promise<void> {
  const { kind, as, how } = step
  const isOfMigration = kind === 'vesting' || kind === 'damm_v2'
  const owner = as === 'partner' ? 'partner' : isOfMigration ? world.creatorAtMigration : world.creator
  const before = world.state()
  const due = await dueNow(world, step, owner, before)
  if (how === 'elsewhere') {
    if (due !== null) await claimPast(world, step, owner, due, before)
    return
  }
  const payer = how === 'sponsored' ? 'keeper' : owner
  const splits = splitsOf(world, step, due)
  const parties = [...new Set([owner, payer])]
  const held = world.held(parties.map(world.walletOf))
  const { status, json } = await world.ask('POST', `/v2/pools/${world.curve}/fee-claims`, {
    payer: world.walletOf(payer),
    kind,
    beneficiary: as,
    mode: how === 'signed' ? 'signed' : 'unsigned',
    ...(kind === 'damm_v2' ? { owner: world.walletOf(owner) } : {}),
    ...(splits.length > 0 && { splits: splits.map(({ recipient, bps }) => ({ recipient, bps })) }),
  })
  if (due === null) {
    expect([status, json.error?.code], json.error?.message).toEqual([400, 'bad_request'])
    return
  }
  expect([status, json.error]).toEqual([200, undefined])
  const { tx, tracked_resource, estimated_quote } = json.data
  if (estimated_quote !== undefined)
    expect(BigInt(estimated_quote)).toBe(due.quote + (kind === 'pool_creation_fee' ? due.lamports : 0n))
  const fee =
    how === 'signed'
      ? world.landed(tx.signature)
      : await world.submit(tx.transaction, parties.map(world.keyOf), tracked_resource)
  const paidAway = splits.reduce((sum, { share }) => sum + share, 0n)
  world.split[as] += paidAway
  // The payer opens the recipients' accounts of another quote than SOL.
  const rents = splits.map(({ recipient }) => world.held([recipient]).lamports - WALLET_RENT)
  const rent = world.isSol() ? 0n : rents.reduce((sum, each) => sum + each, 0n)
  holdGain(world, step, parties, held, { ...due, quote: due.quote - paidAway, lamports: due.lamports - rent }, fee)
  const got = splits.map(({ recipient }) => world.held([recipient]).quote - (world.isSol() ? WALLET_RENT : 0n))
  expect(got, 'the shares of a split').toEqual(splits.map(({ share }) => share))
  holdClaim(world, step, before, due)
}

/** Claimer and payer together have what was due, and all that it cost them is the network's fee. */
function holdGain(world: World, step: ClaimStep, names: readonly string[], before: Held, due: Due, fee: bigint): void {
  const now = world.held(names.map(world.walletOf))
  const gained = {
    quote: now.quote - before.quote,
    base: now.base - before.base,
    lamports: now.lamports - before.lamports,
  }
  const lamports = due.lamports - fee + (world.isSol() ? due.quote : 0n)
  expect(gained, stepText(step)).toEqual({ quote: world.isSol() ? lamports : due.quote, base: due.base, lamports })
}

/** What the claim would pay; null where it would pay nothing. */
async function dueNow(world: World, { kind, as }: ClaimStep, owner: string, state: CurveState): Promise<Due | null> {
  const due = kind === 'damm_v2' ? await positionsDue(world, owner) : state.due(kind, as)
  if (due === null) return null
  const lamports = kind === 'pool_creation_fee' ? state.creationFee - state.creationFee / PROTOCOL_PART : 0n
  return due.quote > 0n || due.base > 0n || lamports > 0n ? { ...due, lamports } : null
}

export async function positionsDue({ pool, connection, keyOf }: World, owner: string): Promise<Amounts | null> {
  if (pool === null) return null
  const { positions } = await positionsElsewhere(connection, pool, keyOf(owner).publicKey)
  const sum = (of: 'feeA' | 'feeB') => positions.reduce((all, position) => all + position[of], 0n)
  return { quote: sum('feeB'), base: sum('feeA') }
}

/** New wallets that have the rent of a wallet, with their shares; none where a share would be nothing, which is refused. */
function splitsOf(world: World, { split }: ClaimStep, due: Due | null) {
  if (split === null || due === null) return []
  const shares = splitAmount(due.quote, split)
  if (shares.includes(0n)) return []
  const splits = split.map((bps, i) => ({ recipient: addressOf(Keypair.generate()), bps, share: shares[i]! }))
  for (const [i, { recipient }] of splits.entries()) {
    world.partyOf.set(recipient, `recipient ${i}`)
    world.chain.airdrop(recipient, WALLET_RENT)
  }
  world.pass()
  return splits
}

async function claimPast(world: World, step: ClaimStep, owner: string, due: Due, before: CurveState): Promise<void> {
  const { kind, as } = step
  const key = world.keyOf(owner)
  const instructions =
    kind === 'damm_v2'
      ? await positionClaimsElsewhere(world.connection, world.pool!, key.publicKey)
      : await claimElsewhere(world.connection, world.chain, before, { kind, as, claimer: key.publicKey })
  const held = world.held([world.walletOf(owner)])
  const fee = world.send(instructions, key)
  holdGain(world, step, [owner], held, due, fee)
  if (as === 'creator') world.payPast(kind, due)
  holdClaim(world, step, before, due)
}

/** The vaults lost what was due, and nothing else of anybody's changed. */
function holdClaim(world: World, { kind, as, how, split }: ClaimStep, before: CurveState, due: Due): void {
  world.count(`${kind} ${as}`)
  world.count(split === null ? how : `${how}, split`)
  const now = world.state()
  world.pay(kind, as, kind === 'pool_creation_fee' ? { quote: due.lamports, base: 0n } : due)
  if (kind === 'damm_v2') return
  const ofVaults = kind === 'vesting' ? { quote: 0n, base: 0n } : due
  expect(before.vaults.quote - now.vaults.quote).toBe(ofVaults.quote)
  expect(before.vaults.base - now.vaults.base).toBe(ofVaults.base)
  for (const party of PARTIES) {
    const left = kind === 'dbc' && party === as ? { quote: 0n, base: 0n } : before.fees[party]
    expect(now.fees[party], `what is left for the ${party}`).toEqual(left)
  }
}

/** Meteora takes all of its part, once also of the creation fee; the others' stays. */
export function claimForProtocol(world: World): void {
  const { chain, operator } = world
  const before = world.state()
  const ofCreation = before.creationFee / PROTOCOL_PART
  const withCreationFee = ofCreation > 0n && [ofCreation, before.creationFee].includes(before.spare)
  world.send(protocolClaims(chain, before, operator, { withCreationFee }), operator.key)
  const now = world.state()
  const taken = { quote: before.vaults.quote - now.vaults.quote, base: before.vaults.base - now.vaults.base }
  expect(now.fees.protocol).toEqual({ quote: 0n, base: 0n })
  for (const party of ['partner', 'creator'] as const) expect(now.fees[party]).toEqual(before.fees[party])
  if (!before.isFull) expect(taken).toEqual(before.fees.protocol)
  expect(before.spare - now.spare).toBe(withCreationFee ? ofCreation : 0n)
  world.count('protocol')
}

/** Hands the creator's role to the other of two wallets, which the program refuses while the curve waits to migrate. */
export async function handOver(world: World): Promise<void> {
  const state = world.state()
  if (state.isFull && !state.isMigrated) return
  const next = world.creator === 'creator' ? 'new creator' : 'creator'
  const { creator } = new DynamicBondingCurveClient(world.connection, 'confirmed')
  const { instructions } = await creator.transferPoolCreator({
    pool: new PublicKey(world.curve),
    creator: world.keyOf(world.creator).publicKey,
    newCreator: world.keyOf(next).publicKey,
  })
  world.send(instructions, world.keyOf(world.creator))
  expect(world.state().creator).toBe(world.walletOf(next))
  world.creator = next
  if (!state.isMigrated) world.creatorAtMigration = next
  world.count('hand over')
}
