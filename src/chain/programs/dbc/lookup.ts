/** Finds the pools of a token: its launch curve by a search, and those that curves migrate to by derivation. */

import { PROGRAMS } from '../../../solana/programs.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { askNode } from '../../nodes/rpc-faults.ts'
import { openDbc } from './program.ts'

/** Offset of the mint in a pool's account. */
const BASE_MINT_OFFSET = 136

/** Returns the launch curves of the token: all accounts of the program that name it. The program permits one. */
export async function findCurves(chain: NodeCalls, mint: string): Promise<string[]> {
  const filters = [{ memcmp: { offset: BASE_MINT_OFFSET, bytes: mint } }]
  const options = { filters, encoding: 'base64', dataSlice: { offset: 0, length: 0 }, commitment: 'confirmed' }
  return askNode('Looking for the launch curve of the token', async () => {
    const accounts = await chain.call<unknown>('getProgramAccounts', [PROGRAMS.dbc.id, options])
    if (!Array.isArray(accounts)) throw new Error('its answer is incomplete')
    return accounts.map(({ pubkey }: { pubkey: string }) => pubkey)
  })
}

/** Returns the addresses that a curve of the token against SOL can migrate to, for every fee. They need not exist. */
export async function migratedCandidates(mint: string): Promise<string[]> {
  const { sdk, key, spl } = await openDbc()
  const configs = Object.values(sdk.DAMM_V2_MIGRATION_FEE_ADDRESS)
  return configs.map((config) => sdk.deriveDammV2PoolAddress(config, key(mint), spl.NATIVE_MINT).toBase58())
}
