/** Derives the addresses of raises, and reads their accounts: together with the chain's clock, or what opens them. */

import { hexOf } from '../../../solana/bytes.ts'
import { MOST_ROUNDS } from '../../../solana/constants.ts'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { deriveAddress } from '../../../solana/program-addresses.ts'
import { CLOCK_SYSVAR } from '../../../solana/program-ids.ts'
import { PRESALE, PRESALE_SEEDS } from '../../../solana/programs/presale.ts'
import type { RaisePlace } from '../../../solana/raise-acts.ts'
import { decodeRaise, decodeRaiseEscrow, type RaiseAddresses } from '../../../solana/raises.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { chainTimeOf } from '../../reads/chain-clock.ts'
import { accountsAt } from '../../sending/runs.ts'

/**
 * Compute limits for transactions that cannot be simulated: half more than the largest that were measured, because the
 * cost of deriving addresses varies by wallet.
 */
export const RAISE_UNITS = {
  /** With the price of a fixed one, and five rounds. */
  create: 165_000,
  root: 50_000,
  serverMetadata: 55_000,
  /** With the opening of the escrow by proof, of a token account, and wrapping of SOL. */
  deposit: 160_000,
  /** To the buyer or the creator, with the opening of a token account. */
  payout: 90_000,
  /** Of an escrow, or of the price. */
  close: 40_000,
} as const

/** The raises that a transaction calls. */
export const raisesIn = (message: DecodedMessage): string[] =>
  PRESALE.callsIn(message).flatMap(({ accounts }) => ('presale' in accounts ? (accounts.presale ?? []) : []))

const derived = (seeds: readonly Uint8Array[]): string => deriveAddress(PRESALE.id, ...seeds).address

/** The addresses of a raise that is to be created with this base, which signs its creation. */
export function raisePlace(of: Omit<RaiseAddresses, 'address' | 'baseVault' | 'quoteVault'>): RaisePlace {
  const address = derived(PRESALE_SEEDS.presale(of.base, of.mint, of.quoteMint))
  return {
    ...of,
    address,
    baseVault: derived(PRESALE_SEEDS.baseVault(address)),
    quoteVault: derived(PRESALE_SEEDS.quoteVault(address)),
    fixedPriceArgs: fixedPriceArgsAddress(address),
  }
}

export const fixedPriceArgsAddress = (raise: string): string => derived(PRESALE_SEEDS.fixedPriceArgs(raise))
export const serverMetadataAddress = (raise: string): string => derived(PRESALE_SEEDS.serverMetadata(raise))
export const raiseEscrowAddress = (raise: string, owner: string, round = 0): string =>
  derived(PRESALE_SEEDS.escrow(raise, owner, round))
export const merkleRootAddress = (raise: string, version: bigint): string =>
  derived(PRESALE_SEEDS.merkleRoot(raise, version))

/** Accounts in one getMultipleAccounts, without the clock. */
export const RAISES_PER_CALL = 99

/**
 * Reads at most 99 raises in one call, with null for an address without one. Throws internal_error when the node fails.
 */
export async function readRaises(node: NodeCalls, addresses: readonly string[]) {
  const [clock, ...accounts] = await accountsAt(node, [CLOCK_SYSVAR, ...addresses])
  return {
    at: await chainTimeOf(clock ?? null),
    raises: addresses.map((address, i) => decodeRaise(address, accounts[i] ?? null)),
  }
}

export async function readRaise(node: NodeCalls, address: string) {
  const { at, raises } = await readRaises(node, [address])
  return { at, raise: raises[0] ?? null }
}

/**
 * Reads a raise and the escrows of a wallet in its rounds, all of one slot; null for what is not there. Throws
 * internal_error when the node fails.
 */
export async function readRaiseOfBuyer(node: NodeCalls, address: string, owner: string) {
  const places = Array.from({ length: MOST_ROUNDS }, (_, round) => raiseEscrowAddress(address, owner, round))
  const [clock, account, ...accounts] = await accountsAt(node, [CLOCK_SYSVAR, address, ...places])
  const raise = decodeRaise(address, account ?? null)
  const escrows = places.map((place, round) => decodeRaiseEscrow(place, accounts[round] ?? null))
  return { at: await chainTimeOf(clock ?? null), raise, escrows: escrows.slice(0, raise?.rounds.length ?? 0) }
}

/** Versions that svc reads and writes; the program permits any number. */
const VERSIONS = 16

export interface RaiseOpening {
  /** Roots in hex by their version; null for a version without one. All of them are valid. */
  roots: readonly (string | null)[]
  url: string | null
}

/** Throws internal_error when the node fails. */
export async function readOpening(node: NodeCalls, raise: string): Promise<RaiseOpening> {
  const places = Array.from({ length: VERSIONS }, (_, version) => merkleRootAddress(raise, BigInt(version)))
  const [metadata, ...accounts] = await accountsAt(node, [serverMetadataAddress(raise), ...places])
  return {
    url: PRESALE.decode('permissioned_server_metadata', metadata)?.server_url ?? null,
    roots: places.map((_, version) => {
      const root = PRESALE.decode('merkle_root_config', accounts[version])?.root
      return root === undefined ? null : hexOf(root)
    }),
  }
}

/** The version of a root, or the first that is free for it; -1 if none is. */
export function versionFor({ roots }: RaiseOpening, root: string): number {
  const own = roots.indexOf(root)
  return own >= 0 ? own : roots.indexOf(null)
}
